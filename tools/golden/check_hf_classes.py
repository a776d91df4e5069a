#!/usr/bin/env python3
"""Holds import and export against Hugging Face transformers: check_hf_classes.py PROGRAM [--covering TESTS] [CLASS | FOLDER]...

Needs transformers; exits with 77 when it cannot be imported. For each class, small models with random weights in several
settings: (1) transformers saves one, `blockzoo logits` reads the folder, and the logits are equal to 1e-4 of their largest
magnitude; (2) `blockzoo export` writes the same model again, and transformers loads that with no key missing, unexpected or
newly initialised, and with equal logits; (3) one update of AdamW by `blockzoo train` from the imported weights changes them as
PyTorch does, to 1e-4 of the largest change. Prompts are longer than the windows.

FOLDER is one with exports below it, each with ids.txt, logits.npy and its gradients under the names of its weights, as the
test of the covering set leaves them when BLOCKZOO_COVERING_FOLDER names a folder: in it any two values of the zoo meet, in
classes of transformers and in the modelling file. They are loaded with no key missing, unexpected or newly initialised, and
their logits and gradients are compared. --covering TESTS lets the program of the tests leave them first."""

import argparse
import concurrent.futures
import contextlib
import io
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
try:
    import numpy
    import safetensors.torch
    import torch
    import transformers
except ImportError as error:
    print(f"skipped: python3 has no {error.name}")
    sys.exit(77)

from hf_class_settings import SETTINGS

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
torch.set_num_threads(1)
RELATIVE = 1e-4
TOKENS = 24
WORKERS = min(2, len(os.sched_getaffinity(0)))
MODULES = tempfile.TemporaryDirectory()
CONTEXT_KEYS = ("max_position_embeddings", "max_seq_len", "seq_length")


def trained_wholly(model):
    """The factors of Gemma 4's layers, which transformers keeps as buffers, are parameters."""
    for module in model.modules():
        if "layer_scalar" in module._buffers:
            module.layer_scalar = torch.nn.Parameter(module._buffers.pop("layer_scalar"))
    return model


def build(name, settings, seed):
    """A model whose every parameter is random, norms and biases too."""
    cls = getattr(transformers, name)
    model = trained_wholly(cls(cls.config_class(**settings)).eval())
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            scale = 0.3 if parameter.dim() == 1 else 1.5 / parameter.shape[-1] ** 0.5
            parameter.add_(noise * scale) if parameter.dim() == 1 else parameter.copy_(noise * scale)
    return model


def logits_of(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids]), use_cache=False).logits[0].float()


def relative(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


class Program:
    def __init__(self, path, folder):
        self.path = str(pathlib.Path(path).resolve())
        self.folder = folder

    def run(self, *arguments):
        done = subprocess.run([self.path, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"blockzoo {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def logits(self, model, ids):
        (self.folder / "ids.txt").write_text(" ".join(map(str, ids)))
        self.run("logits", "--model", model, "--tokens", "ids.txt", "--out", "logits.npy")
        return torch.from_numpy(numpy.load(self.folder / "logits.npy"))[0]


def load_strictly(folder):
    model, info = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True,
                                                                    trust_remote_code=True)
    wrong = {kind: names for kind, names in info.items() if names}
    if wrong:
        raise AssertionError(f"loading said {wrong}")
    return trained_wholly(model.eval())


RUN = """
data:
  corpus: {{kind: tokens, path: train.bin, validation: {{kind: path, path: val.bin}}, vocabulary: {vocabulary}}}
  validation_windows: 1
train:
  steps: 1
  batch: 1
  clip: 0
  device: cpu
  threads: 1
  optimizer: {{lr: 0.1, eps: 1.0, weight_decay: 0}}
  schedule: {{kind: constant, warmup: 0}}
"""
LR, EPS = 0.1, 1.0  # an eps of 1 makes the update follow the gradient, not its sign alone


def check_update(program, source, vocabulary, context):
    """The relative error of what one update changes: imported, trained and exported here, against PyTorch."""
    folder = program.folder
    generator = numpy.random.default_rng(5)
    window = generator.integers(0, vocabulary, context + 1)
    window.astype(numpy.uint16).tofile(folder / "train.bin")
    generator.integers(0, vocabulary, context + 1).astype(numpy.uint16).tofile(folder / "val.bin")
    program.run("import", source, "--to", "start.yaml")
    start = re.sub(r"dropout: [0-9.e-]+", "dropout: 0.0", (folder / "start.yaml").read_text())  # PyTorch draws other masks
    (folder / "run.yaml").write_text(start + RUN.format(vocabulary=vocabulary))
    program.run("train", "run.yaml", "--out", "run", "--quiet")
    program.run("export", "run", "--to", "after")
    before, after = load_strictly(source), load_strictly(folder / "after")
    words = "update"
    if type(before).__name__ != type(after).__name__:  # another class holds the model without dropout, under other names
        program.run("export", "run.yaml", "--to", "before")
        before = load_strictly(folder / "before")
        words = f"update as {type(after).__name__}"
    assert type(before).__name__ == type(after).__name__
    ids = torch.from_numpy(window.astype(numpy.int64))
    start = {name: value.clone() for name, value in before.state_dict().items()}
    optimizer = torch.optim.AdamW(before.parameters(), lr=LR, betas=(0.9, 0.95), eps=EPS, weight_decay=0.0)
    logits = before(ids[:-1].unsqueeze(0), use_cache=False).logits[0]
    torch.nn.functional.cross_entropy(logits, ids[1:]).backward()
    optimizer.step()
    theirs, ours = before.state_dict(), after.state_dict()
    changes = {name: ((theirs[name] - start[name]).abs().max().item(), (ours[name] - theirs[name]).abs().max().item()) for name in start}
    largest = max(change for change, _ in changes.values())
    error = max(off for _, off in changes.values()) / largest
    return f"{words} {error:.1e}", error


def check(program, name, number, settings):
    folder = program.folder
    model = build(name, settings, seed=number)
    ids = torch.randint(0, 37, (TOKENS,), generator=torch.Generator().manual_seed(number)).tolist()
    expected = logits_of(model, ids)
    theirs, ours = folder / f"{name}{number}", folder / f"{name}{number}-ours"
    model.save_pretrained(theirs, **({"max_shard_size": "4KB"} if number == 0 else {}))
    imported = relative(program.logits(theirs, ids), expected)
    program.run("export", theirs, "--to", ours, "--shard-gb", "4e-6" if number == 1 else "5")
    back = load_strictly(ours)
    exported = relative(logits_of(back, ids), expected)
    same_class = type(back).__name__ == name
    print(f"{name} {number}: imported {imported:.1e}, exported {exported:.1e}" + ("" if same_class else f" as {type(back).__name__}"))
    if not (imported <= RELATIVE and exported <= RELATIVE):
        raise AssertionError("logits differ")
    before, after = model.state_dict(), back.state_dict()
    context = next(getattr(model.config, key) for key in CONTEXT_KEYS if hasattr(model.config, key))
    words, error = check_update(program, theirs, 37, context)
    print(f"{name} {number}: {words}")
    if not error <= RELATIVE:
        raise AssertionError("the update differs")
    if same_class and any(not torch.equal(before[key], after[key]) for key in before):
        raise AssertionError("the export has other weights than the original")


def check_covering(program, source):
    """An export that the test of the covering set has left."""
    ids = [int(word) for word in (source / "ids.txt").read_text().split()]
    expected = torch.from_numpy(numpy.load(source / "logits.npy"))
    model = load_strictly(source)
    loaded = relative(logits_of(model, ids), expected)
    tokens = torch.tensor(ids)
    logits = model(tokens[:-1].unsqueeze(0), use_cache=False).logits[0].float()
    torch.nn.functional.cross_entropy(logits, tokens[1:]).backward()
    ours = safetensors.torch.load_file(source / "gradients" / "model.safetensors")
    theirs = {name: parameter.grad for name, parameter in model.named_parameters()}
    lost = [name for name in theirs if theirs[name] is None or name not in ours]
    if lost:
        raise AssertionError(f"no gradient of {', '.join(lost)}")
    error = max((theirs[name] - ours[name]).abs().max().item() for name in theirs) / max(g.abs().max().item() for g in ours.values())
    print(f"{source.name}: {type(model).__name__}, loaded {loaded:.1e}, gradients {error:.1e}")
    if not (loaded <= RELATIVE and error <= RELATIVE):
        raise AssertionError("logits or gradients differ")


def one_job(title, function, program, arguments):
    """What it says, and whether it failed. In a process of its own, which has its own place for modelling files."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
        transformers.dynamic_module_utils.HF_MODULES_CACHE = f"{MODULES.name}/{os.getpid()}"
        try:
            function(Program(program, pathlib.Path(folder)), *arguments)
        except Exception as error:
            print(f"{title}: FAILED: {type(error).__name__}: {error}")
            return said.getvalue(), True
    return said.getvalue(), False


def class_jobs(chosen):
    for name, settings in SETTINGS.items():
        if name in chosen or not chosen:
            for number, one in enumerate(settings):
                yield f"{name} {number}", check, (name, number, one)


def covering_jobs(folder):
    for source in sorted(folder.resolve().iterdir(), key=lambda path: int(path.name)):
        yield source.name, check_covering, (source,)


def leave_covering(tests, folder):
    """Starts the test that leaves the covering set's exports in the folder."""
    source = pathlib.Path(__file__).resolve().parents[2]
    return subprocess.Popen([tests, "Every model of the covering set is exported*"], cwd=source, stdout=subprocess.PIPE, text=True,
                            env=os.environ | {"BLOCKZOO_COVERING_FOLDER": folder})


def main(program, tests, chosen):
    folders = [pathlib.Path(one) for one in chosen if pathlib.Path(one).is_dir()]
    names = [one for one in chosen if not pathlib.Path(one).is_dir()]
    fork = multiprocessing.get_context("fork")  # transformers is imported once
    with tempfile.TemporaryDirectory() as covering, concurrent.futures.ProcessPoolExecutor(WORKERS, mp_context=fork) as pool:
        leaving = leave_covering(tests, covering) if tests else None
        running = []

        def submit(jobs):
            running.extend(pool.submit(one_job, title, function, program, arguments) for title, function, arguments in jobs)

        submit(class_jobs(names) if names or not folders else ())
        for folder in folders:
            submit(covering_jobs(folder))
        failed = 0
        if leaving:
            said = leaving.communicate()[0]
            if leaving.returncode != 0:
                failed += 1
                print(said)
            submit(covering_jobs(pathlib.Path(covering)))
        for job in running:
            said, bad = job.result()
            print(said, end="", flush=True)
            failed += bad
    print(f"{len(running)} compared, " + (f"{failed} failed" if failed else "all equal"))
    sys.exit(1 if failed else 0)


parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--covering", metavar="TESTS")
parser.add_argument("chosen", nargs="*")
given = parser.parse_args()
main(given.program, given.covering, given.chosen)
