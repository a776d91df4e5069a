"""Values that need no generator, and the files that hold expected results.

Inputs and weights are a function of their name and index alone, computed alike here and in tests/support/golden.h, so
only outputs and gradients are stored."""

import json
import pathlib

import numpy
import torch

torch.set_default_dtype(torch.float64)
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"


def _fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def ramp(name, shape):
    """Numbers in [-1, 1): SplitMix64 of hash(name) + index."""
    count = int(numpy.prod(shape, dtype=numpy.int64))
    with numpy.errstate(over="ignore"):
        v = numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(_fnv1a(name)) + numpy.uint64(0x9E3779B97F4A7C15)
        v = (v ^ (v >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        v = (v ^ (v >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        v = v ^ (v >> numpy.uint64(31))
    return torch.from_numpy((v >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-52 - 1).reshape(shape)


class Weights:
    """Parameters by name, made when first asked for."""

    def __init__(self):
        self.leaves = {}

    def __call__(self, name, *shape):
        if name not in self.leaves:
            u = ramp(name, shape)
            last = name.split(".")[-1]
            if last in ("gain", "alpha", "output_factor"):
                value = 1 + 0.3 * u
            elif last.endswith("bias"):
                value = 0.3 * u
            else:
                value = u * (1.5 / shape[-1] ** 0.5)
            self.leaves[name] = value.requires_grad_()
        leaf = self.leaves[name]
        assert leaf.shape == torch.Size(shape), name
        return leaf

    def below(self, prefix):
        return lambda name, *shape: self(prefix + "." + name, *shape)


def numbers(tensor):
    return [float(f"{value:.11g}") for value in tensor.detach().reshape(-1).tolist()]


def case(name, output, leaves, **description):
    """Output, and gradients of sum(output * ramp("cotangent")) for every leaf."""
    for leaf in leaves.values():
        leaf.grad = None
    (output * ramp("cotangent", output.shape)).sum().backward()
    return {
        "name": name,
        **description,
        "output": {"shape": list(output.shape), "values": numbers(output)},
        "gradients": {key: numbers(leaf.grad) for key, leaf in leaves.items()},
    }


def write(family, cases, **more):
    FOLDER.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(one) for one in cases)
    head = json.dumps({"script": f"tools/golden/{family}.py", "library": f"torch {torch.__version__}", **more})
    (FOLDER / f"{family}.json").write_text(f'{head[:-1]}, "cases": [\n{lines}\n]}}\n')
    print(f"{family}: {len(cases)} cases")
