#!/usr/bin/env python3
"""PyYAML (YAML 1.1) must read a resolved config as the program means it: numbers as numbers, text as text.

    tools/check_resolved_yaml.py build/release/blockzoo [FILE ...]

Needs PyYAML. Without files, every config of the source tree is checked, and one whose numbers and texts are awkward.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import yaml

AWKWARD = """
model: {block: {norm: {eps: 1E-30}, residual_scale: 3.0000000000000004e-4}}
data: {corpus: {kind: text, path: "no", validation: {kind: path, path: "1e-4"}}}
train: {steps: 1e3, optimizer: {lr: 1.e-4, weight_decay: .5, eps: 1e-300}}
"""


def run(program, *arguments):
    return subprocess.run([program, "check", *arguments], check=True, capture_output=True, text=True).stdout


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def main():
    program, *files = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        if not files:
            awkward = pathlib.Path(folder, "awkward.yaml")
            awkward.write_text(AWKWARD)
            configs = pathlib.Path(__file__).resolve().parent.parent / "configs"
            files = [awkward, *sorted(configs.rglob("*.yaml"))]
        failed = False
        for file in map(str, files):
            answer = json.loads(run(program, file, "--json"))
            expected = answer["config" if answer["kind"] == "run" else "base"]
            equal = same(yaml.safe_load(run(program, file)), expected)
            failed |= not equal
            print(f"{file}: {'equal' if equal else 'PyYAML reads something else'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
