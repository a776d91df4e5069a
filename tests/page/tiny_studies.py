"""Folders of studies for the check of report.html: a real one, the same before and during its runs, and a large one."""

import json
import math
import shutil
import subprocess
from pathlib import Path

STUDY = """\
question: "Which one learns, <b>pre</b> or post & none?"
base:
  model: {width: 16, layers: 2, context: 24, block: {attention: {heads: 2}}}
  data: {corpus: {kind: stories, train_stories: 32, validation_stories: 4}, validation_windows: 8}
  train: {steps: 30, batch: 4, clip: 0, log_every: 1, eval_every: 10, probe_every: 10, schedule: {kind: constant, warmup: 0},
          sample: {kind: text, prompt: "Once <i>", tokens: 20}}
arms:
  pre: {}
  post: {model: {block: {layout: {kind: post_norm}}}}
  bare: {model: {block: {norm: {kind: none}}}, train: {loss: {z_loss: 1e-4}}}
sweep: {train.optimizer.lr: [1e-3, 1e30]}
seeds: [0, 1]
"""


def finished(program: Path, folder: Path) -> Path:
    """Runs a study whose second rate makes arms diverge or not, as it comes."""
    (folder / "study.yaml").write_text(STUDY)
    done = subprocess.run([program, "ablate", "study.yaml", "--out", "after", "--jobs", "2", "--quiet"], cwd=folder)
    assert done.returncode in (0, 3), f"ablate ended with {done.returncode}"
    return folder / "after"


def before(after: Path) -> Path:
    """The plan alone."""
    folder = after.with_name("before")
    folder.mkdir()
    shutil.copy(after / "study.json", folder)
    return folder


def during(after: Path) -> Path:
    """One run finished, one in the middle of a line, one without any line, one whose record is broken, none of the rest."""
    folder = before(after).rename(after.with_name("during"))
    runs = [run["folder"] for run in json.loads((folder / "study.json").read_text())["runs"]]
    for run in runs[:4]:
        shutil.copytree(after / run, folder / run)
    metrics = folder / runs[1] / "metrics.jsonl"
    metrics.write_text(metrics.read_text()[: metrics.stat().st_size // 2])
    for run in runs[1:3]:
        path = folder / run / "run.json"
        record = json.loads(path.read_text())
        for key in ("validation", "best_validation"):
            record.pop(key, None)
        record |= {"status": "running", "step": 0, "tokens": 0, "first_loss": None, "message": ""}
        path.write_text(json.dumps(record))
    (folder / runs[2] / "metrics.jsonl").unlink()
    record = folder / runs[3] / "run.json"
    record.write_text(record.read_text()[:200])
    return folder


def large(after: Path, arms: int = 20, rates: int = 2, seeds: int = 5, steps: int = 2000) -> Path:
    """200 runs of 2,000 points on two machines, made up from the record of a real one."""
    folder = after.with_name("large")
    plan = json.loads((after / "study.json").read_text())
    entry = plan["runs"][0]
    record = json.loads((after / entry["folder"] / "run.json").read_text())
    plan["runs"] = []
    for arm in range(arms):
        for rate in range(rates):
            for seed in range(seeds):
                name = f"arm{arm}/lr={rate + 1}e-3/seed{seed}"
                plan["runs"].append(entry | {"folder": name, "arm": f"arm{arm}", "seed": seed,
                                             "sweep": {"train.optimizer.lr": f"{rate + 1}e-3"},
                                             "differences": [{"path": "model.width", "base": "16", "here": str(arm)}] if arm else []})
                run = folder / name
                run.mkdir(parents=True)
                loss = record["validation"]["loss"] + 0.01 * arm + 0.003 * math.sin(7 * seed + arm)
                own = record | {"seed": seed, "step": steps, "steps": steps, "machine": f"machine {seed % 2}",
                                "validation": {"loss": loss, "bits_per_byte": loss / math.log(2)}}
                (run / "run.json").write_text(json.dumps(own))
                (run / "metrics.jsonl").write_text("".join(
                    json.dumps({"step": step, "tokens": 96 * step, "seconds": 0.01 * step * (1 + 0.1 * seed),
                                "loss": 5 / step**0.2 + 0.01 * arm + 0.05 * math.sin(step * (seed + 1)),
                                "gradient_norm": 1 + math.sin(step) / 2}) + "\n"
                    for step in range(1, steps + 1)))
    (folder / "study.json").write_text(json.dumps(plan))
    return folder
