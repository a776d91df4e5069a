#!/usr/bin/env python3
"""blockzoo against PyTorch eager, PyTorch compiled and transformers on this machine, in turn.

  tools/bench/compare.py --program build/release/blockzoo --python .venv/bin/python [WORKLOAD ...]

Every round times each program for a few updates, one after the other (A B C A B C ...), so that what else the machine
does touches all of them. Printed are medians over the rounds of the ratio to blockzoo's time in the same round, with
the smallest and the largest. Nothing is timed before the losses of ten updates from the same start agree.

Workloads: course, course_bf16, bytes, bytes_bf16 (training updates), window_4096, window_8192 (attention forward and
backward, window 256), generate_1, generate_gqa_1, generate_mqa_1, the same with _16 for 16 texts and with _bf16 behind
(128 greedy tokens of the course model with 16, 4 and 1 key heads), generate_smollm2, generate_smollm2_bf16 (the same of
a real model that was imported), start (from nothing to the first update), kinds (time and bytes of an update of
blockzoo by kind, against the base of bytes.yaml; no peer).
"""
import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time

import generation
from rounds import HERE, Peer, load, run, sets, spread, write_config

TRAINING = {
    "course": ("course.yaml", []),
    "course_bf16": ("course.yaml", ["train.precision=bfloat16"]),
    "bytes": ("bytes.yaml", []),
    "bytes_bf16": ("bytes.yaml", ["train.precision=bfloat16"]),
}
WINDOWS = {"window_4096": 4096, "window_8192": 8192}
WINDOW = 256
BLOCK = "model.block."
KINDS = {  # against the base's RMSNorm, SwiGLU, RoPE and 8 heads
    "norms": {
        "layer_norm": [BLOCK + "norm.kind=layer_norm"],
        "layer_norm without bias": [BLOCK + "norm.kind=layer_norm", BLOCK + "norm.bias=false"],
        "scale_norm": [BLOCK + "norm.kind=scale_norm"],
        "dynamic_tanh": [BLOCK + "norm.kind=dynamic_tanh"],
        "no norm": [BLOCK + "norm.kind=none"],
        "RMSNorm of outputs too": [BLOCK + "layout.kind=double_norm"],
        "RMSNorm of queries and keys": [BLOCK + "attention.qk_norm.kind=head"],
    },
    "feed-forward kinds": {
        "glu with tanh-GELU": [BLOCK + "ffn.activation=gelu_tanh"],
        "glu with GELU": [BLOCK + "ffn.activation=gelu"],
        "glu with ReLU": [BLOCK + "ffn.activation=relu"],
        "glu with sigmoid": [BLOCK + "ffn.activation=sigmoid"],
        "bilinear glu": [BLOCK + "ffn.activation=identity"],
        "mlp with GELU, as many FLOPs": [BLOCK + "ffn.kind=mlp", BLOCK + "ffn.hidden=512"],
        "mlp with tanh-GELU, as many FLOPs": [BLOCK + "ffn.kind=mlp", BLOCK + "ffn.hidden=512",
                                              BLOCK + "ffn.activation=gelu_tanh"],
        "mlp with squared ReLU, as many FLOPs": [BLOCK + "ffn.kind=mlp", BLOCK + "ffn.hidden=512",
                                                 BLOCK + "ffn.activation=relu_squared"],
    },
    "positions": {
        "interleaved RoPE": [BLOCK + "position.pairing=interleaved"],
        "no positions": [BLOCK + "position.kind=none"],
        "learned positions": [BLOCK + "position.kind=learned"],
        "sinusoidal positions": [BLOCK + "position.kind=sinusoidal"],
        "ALiBi": [BLOCK + "position.kind=alibi"],
        "relative bias": [BLOCK + "position.kind=relative_bias"],
        "Transformer-XL": [BLOCK + "position.kind=transformer_xl"],
    },
    "heads": {
        "four heads": [BLOCK + "attention.heads=4"],
        "sixteen heads": [BLOCK + "attention.heads=16"],
        "two key heads": [BLOCK + "attention.kv_heads=2"],
        "one key head": [BLOCK + "attention.kv_heads=1"],
        "latent attention": [BLOCK + "attention.kind=latent"],
    },
    "scores and losses": {
        "window of 64": [BLOCK + "attention.window=64"],
        "window of 32": [BLOCK + "attention.window=32"],
        "soft cap of scores": [BLOCK + "attention.softcap=50"],
        "attention dropout": [BLOCK + "attention.dropout=0.1"],
        "final soft cap": ["model.final_softcap=30"],
        "z-loss": ["train.loss.z_loss=1e-4"],
        "reference kernels": ["train.kernels=reference"],
    },
}
MIB = 1 << 20
AGREE = 1e-4  # nats, of each of the first ten losses in float32
AGREE_BF16 = 1e-3  # bfloat16 products are rounded in another order


def train(name, arguments):
    file, values = TRAINING[name]
    path = os.path.join(HERE, file)
    values = values + [f"train.threads={arguments.threads}"]
    with tempfile.TemporaryDirectory() as folder:
        config, inputs = os.path.join(folder, "config.json"), os.path.join(folder, "inputs.safetensors")
        write_config(arguments.program, path, values, config)
        run([arguments.program, "bench", path, "--inputs", inputs, "--steps", "16", *sets(values)])
        ours = lambda steps: json.loads(  # noqa: E731
            run([arguments.program, "bench", path, "--json", "--steps", str(steps), *sets(values)]))
        first = ours(10)
        peers = {}
        for kind in arguments.peers:
            python = arguments.transformers_python if kind == "transformers" else arguments.python
            peers[kind] = Peer([python, "peer.py", "--kind", kind, "--inputs", inputs, "--config", config,
                                "--threads", str(arguments.threads)])
            gaps = [abs(a - b) for a, b in zip(first["losses"], peers[kind].first["losses"])]
            limit = AGREE_BF16 if name.endswith("bf16") else AGREE
            largest = math.nan if any(map(math.isnan, gaps)) else max(gaps)
            print(f"  {kind}: PyTorch {peers[kind].first['torch']}, largest difference of ten losses {largest:.1e}")
            if not largest <= limit:
                sys.exit(f"{name}: the losses of {kind} differ by {largest:.1e}, not by {limit} at most; nothing is timed")
        times = {"blockzoo": [], **{kind: [] for kind in peers}}
        shares, peaks, bandwidths, loads = [], [], [], []
        for _ in range(arguments.rounds):
            figures = ours(arguments.steps)
            times["blockzoo"].append(figures["median_step_s"])
            peaks.append(figures["product_flops_per_s"])
            bandwidths.append(figures["bytes_per_s"])
            shares.append(figures["flops_per_step"] / figures["median_step_s"] / figures["product_flops_per_s"])
            loads.append(load())
            for kind, peer in peers.items():
                times[kind].append(statistics.median(peer.ask(arguments.steps)["steps_s"]))
        for peer in peers.values():
            peer.end()
    print(f"  machine: {figures['machine']}; kernels {figures['kernels']}")
    print(f"  load {spread(loads)}; a large product {spread([p / 1e9 for p in peaks])} GFLOP/s, "
          f"memory {spread([b / 1e9 for b in bandwidths])} GB/s")
    print(f"  {figures['flops_per_step']:.4g} FLOPs an update; blockzoo reaches {100 * statistics.median(shares):.0f} % "
          "of the large product's rate")
    for kind, seconds in times.items():
        rate = figures["tokens_per_step"] / statistics.median(seconds)
        ratio = spread([s / b for s, b in zip(seconds, times["blockzoo"])])
        print(f"  {kind:14} {statistics.median(seconds) * 1e3:9.1f} ms  {rate:9.0f} tokens/s   {ratio} x blockzoo's time")


def windows(name, arguments):
    length, heads, width = WINDOWS[name], 6, 64
    path = os.path.join(HERE, "long.yaml")

    def ours(window):
        values = [f"model.context={length}", f"model.block.attention.window={window}",
                  f"train.threads={arguments.threads}"]
        kinds = json.loads(run([arguments.program, "bench", path, "--json", "--steps", "3", *sets(values)]))["kinds"]
        return next(kind["seconds"] for kind in kinds if kind["name"] == "attention")

    peer = Peer([arguments.python, "attention.py", "--shape", "1", str(heads), str(length), str(width), "--window",
                 str(WINDOW), "--threads", str(arguments.threads)])
    rows = {"window of blockzoo": [], "full of blockzoo": [], "full causal SDPA": [], "SDPA with the window's mask": []}
    loads = []
    for _ in range(arguments.rounds):
        rows["window of blockzoo"].append(ours(WINDOW))
        rows["full of blockzoo"].append(ours(0))
        theirs = peer.ask(1)
        rows["full causal SDPA"].append(theirs["full_s"][0])
        rows["SDPA with the window's mask"].append(theirs["masked_s"][0])
        loads.append(load())
    peer.end()
    print(f"  attention forward and backward, B 1, H {heads}, T {length}, K {width}, window {WINDOW}; load {spread(loads)}")
    for row, seconds in rows.items():
        ratio = spread([s / b for s, b in zip(seconds, rows["window of blockzoo"])])
        print(f"  {row:28} {statistics.median(seconds) * 1e3:9.1f} ms   {ratio} x the window's time")


def start(_, arguments):
    path = os.path.join(HERE, "bytes.yaml")
    rows = {"blockzoo": [], "import torch and one update": []}
    with tempfile.TemporaryDirectory() as folder:
        config, inputs = os.path.join(folder, "config.json"), os.path.join(folder, "inputs.safetensors")
        write_config(arguments.program, path, [], config)
        run([arguments.program, "bench", path, "--inputs", inputs, "--steps", "1"])
        for _ in range(arguments.rounds):
            begin = time.perf_counter()
            run([arguments.program, "bench", path, "--first", "--set", f"train.threads={arguments.threads}"])
            rows["blockzoo"].append(time.perf_counter() - begin)
            begin = time.perf_counter()
            run([arguments.python, os.path.join(HERE, "peer.py"), "--kind", "eager", "--inputs", inputs, "--config",
                 config, "--threads", str(arguments.threads), "--first"])
            rows["import torch and one update"].append(time.perf_counter() - begin)
    print(f"  load {load():.2f}")
    for row, seconds in rows.items():
        ratio = spread([s / b for s, b in zip(seconds, rows["blockzoo"])])
        print(f"  {row:28} {statistics.median(seconds):9.2f} s   {ratio} x blockzoo's time")


def kinds(_, arguments):
    """Time, and bytes by the program's own count: the most alive at a time, and those of all tensors that are made."""
    path = os.path.join(HERE, "bytes.yaml")

    def update(values):
        values = values + [f"train.threads={arguments.threads}"]
        figures = json.loads(
            run([arguments.program, "bench", path, "--json", "--steps", str(arguments.steps), *sets(values)]))
        made = sum(kind["allocated_bytes"] for kind in figures["kinds"])
        return figures["median_step_s"], figures["peak_bytes"], made

    ratios = {name: [] for group in KINDS.values() for name in group}
    sizes = {}
    for _ in range(arguments.rounds):
        for group in KINDS.values():
            for name, values in group.items():
                base_s, *base_sizes = update([])
                own_s, *sizes[name] = update(values)
                ratios[name].append(own_s / base_s)
    print(f"  one update, forward and backward; the base has {base_sizes[0] / MIB:.1f} MiB alive at most and makes "
          f"{base_sizes[1] / MIB:.1f} MiB of tensors; load {load():.2f}")
    for title, group in KINDS.items():
        print(f"  {title:38} {'time, x the base':24} alive at most, MiB    made, MiB")
        for name in group:
            peak, made = sizes[name]
            print(f"    {name:36} {spread(ratios[name]):24} {peak / MIB:9.1f} ({peak / base_sizes[0]:.2f} x) "
                  f"{made / MIB:9.1f} ({made / base_sizes[1]:.2f} x)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    parser.add_argument("--program", default="build/release/blockzoo")
    parser.add_argument("--python", default=sys.executable, help="one with torch")
    parser.add_argument("--transformers-python", help="one with transformers; as --python where not given")
    parser.add_argument("--smollm2", metavar="FILE", help="the run file that blockzoo import made of SmolLM2-135M")
    parser.add_argument("--peers", nargs="+", default=["eager", "compiled", "transformers"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4, help="updates of each program in a round")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    arguments.transformers_python = arguments.transformers_python or arguments.python
    works = {**{name: train for name in TRAINING}, **{name: windows for name in WINDOWS}, "start": start, "kinds": kinds,
             **{name: generation.generate for name in (*generation.WORKLOADS, *generation.SMOLLM2)}}
    for name in arguments.workloads or works:
        if name not in works:
            sys.exit(f"no workload '{name}'; one of: {', '.join(works)}")
        print(f"{name}, {arguments.rounds} rounds, {arguments.threads} threads", flush=True)
        works[name](name, arguments)


if __name__ == "__main__":
    main()
