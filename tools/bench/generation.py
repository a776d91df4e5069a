"""Greedy generation of blockzoo against PyTorch and transformers."""
import json
import os
import statistics
import sys
import tempfile

from rounds import HERE, Peer, load, run, sets, spread, write_config

NEW_TOKENS = 128
HEADS = {"": [], "_gqa": ["model.block.attention.kv_heads=4"], "_mqa": ["model.block.attention.kv_heads=1"]}
WORKLOADS = {f"generate{heads}_{texts}{half}": (values + (["train.precision=bfloat16"] if half else []), texts)
             for half in ("", "_bf16") for heads, values in HEADS.items() for texts in (1, 16)}
SMOLLM2 = {"generate_smollm2": [], "generate_smollm2_bf16": ["train.precision=bfloat16"]}
EQUAL = 32  # tokens of every text that must be equal; of start values, near ties part them later
EQUAL_BF16 = 1  # the same of half the texts in bfloat16, whose logits tie often


def generate(name, arguments):
    if name in SMOLLM2:
        if not arguments.smollm2:
            print("  skipped: no --smollm2 FILE (the run file of an imported SmolLM2)")
            return
        path, (values, texts) = os.path.abspath(arguments.smollm2), (SMOLLM2[name] + ["model.context=2048"], 1)
    else:
        path, (values, texts) = os.path.join(HERE, "course.yaml"), WORKLOADS[name]
    values = values + [f"train.threads={arguments.threads}"]
    options = ["--generate", "--texts", str(texts), "--new-tokens", str(NEW_TOKENS), "--json"]
    ours = lambda: json.loads(run([arguments.program, "bench", path, *options, *sets(values)]))  # noqa: E731
    with tempfile.TemporaryDirectory() as folder:
        config, inputs, prompts = (os.path.join(folder, file) for file in
                                   ("config.json", "inputs.safetensors", "prompts.json"))
        write_config(arguments.program, path, values, config)
        run([arguments.program, "bench", path, "--inputs", inputs, "--steps", "1", *sets(values)])
        figures = ours()
        with open(prompts, "w") as out:
            json.dump({"prompts": figures["prompts"]}, out)
        peers = {}
        for kind in arguments.peers:
            if kind == "compiled":
                continue
            python = arguments.transformers_python if kind == "transformers" else arguments.python
            peers[kind] = Peer([python, "peer_generation.py", "--kind", kind, "--inputs", inputs, "--config", config,
                                "--prompts", prompts, "--new-tokens", str(NEW_TOKENS),
                                "--threads", str(arguments.threads)])
            equal = [next((i for i, (a, b) in enumerate(zip(x, y)) if a != b), NEW_TOKENS)
                     for x, y in zip(figures["ids"], peers[kind].first["ids"])]
            half = sorted(equal)[len(equal) // 2]
            print(f"  {kind}: PyTorch {peers[kind].first['torch']}, the first {min(equal)} tokens of every text are "
                  f"equal, the first {half} of half the texts")
            if half < EQUAL_BF16 or (not name.endswith("bf16") and min(equal) < EQUAL):
                sys.exit(f"{name}: {kind} gives other tokens; nothing is timed")
        times = {"blockzoo": [], **{kind: [] for kind in peers}}
        memory, loads = [], []
        for _ in range(arguments.rounds):
            figures = ours()
            times["blockzoo"].append(figures["median_step_s"])
            memory.append(figures["bytes_per_s"])
            loads.append(load())
            for kind, peer in peers.items():
                times[kind].append(statistics.median(peer.ask(1)["steps_s"]))
        for peer in peers.values():
            peer.end()
    shares, own = ([figures[key] / s / m for s, m in zip(times["blockzoo"], memory)]
                   for key in ("bytes_per_step", "model_bytes"))
    print(f"  machine: {figures['machine']}; kernels {figures['kernels']}")
    print(f"  load {spread(loads)}; memory is read at {spread([m / 1e9 for m in memory])} GB/s")
    print(f"  {figures['bytes_per_step'] / 1e6:.1f} MB a step; blockzoo reaches {100 * statistics.median(shares):.0f} % "
          f"of that; copies: {figures['copies']}; the model's own {figures['model_bytes'] / 1e6:.1f} MB would be "
          f"{100 * statistics.median(own):.0f} %")
    for kind, seconds in times.items():
        ratio = spread([s / b for s, b in zip(seconds, times["blockzoo"])])
        print(f"  {kind:14} {statistics.median(seconds) * 1e3:9.2f} ms a step  "
              f"{texts / statistics.median(seconds):9.0f} tokens/s   {ratio} x blockzoo's time")
