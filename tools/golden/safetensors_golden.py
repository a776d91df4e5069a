"""Safetensors and NumPy files: does Python agree with what this project writes and reads?

    pip install torch numpy safetensors
    python3 tools/golden/safetensors_golden.py write      # makes python.safetensors in tests/golden/hub
    python3 tools/golden/safetensors_golden.py check      # reads blockzoo.safetensors and *.npy there

Made with safetensors 0.8.0, torch 2.13.0 and NumPy 2.4.6. The tests write blockzoo.safetensors and *.npy when the
variable BLOCKZOO_WRITE_GOLDEN is set, and compare with them otherwise.
"""

import pathlib
import sys

import numpy
import safetensors
import torch
from safetensors.torch import load_file, save_file

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "hub"
METADATA = {"format": "pt", "note": "a\nb"}
TYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


def ramp(dtype):
    """Values that every type holds exactly, from below zero where the type has a sign."""
    whole = torch.arange(6)
    if dtype == torch.bool:
        values = whole % 3 == 0
    elif dtype == torch.uint8:
        values = whole
    else:
        values = (whole - 3) * (0.5 if dtype.is_floating_point else 1)
    return values.to(dtype).reshape(2, 3)


def one_of_each():
    tensors = {f"a.{name}": ramp(dtype) for name, dtype in TYPES.items()}
    tensors["empty"] = torch.zeros(3, 0)
    tensors["scalar"] = torch.tensor(1.5)
    tensors['näme "quoted"'] = torch.tensor(2.5)
    return tensors


def check_safetensors(path):
    expected = one_of_each()
    found = load_file(path)
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype, name
        assert found[name].shape == tensor.shape, name
        assert torch.equal(found[name], tensor), name
    with safetensors.safe_open(path, "pt") as file:
        assert file.metadata() == METADATA, file.metadata()


def check_npy(folder):
    base = (numpy.arange(24) - 12).reshape(2, 3, 4) * 0.5
    expected = {
        "three_dims": base,
        "transposed": base.transpose(2, 1, 0),
        "one_dim": base.ravel(),
        "scalar": numpy.array(1.5),
        "empty": numpy.zeros((0, 3)),
    }
    for name, values in expected.items():
        found = numpy.load(folder / f"{name}.npy", allow_pickle=False)
        assert found.dtype == numpy.dtype("<f4") and found.flags.c_contiguous, name
        assert found.shape == values.shape and (found == values).all(), name


def main():
    if sys.argv[1:] == ["write"]:
        save_file(one_of_each(), GOLDEN / "python.safetensors", METADATA)
    elif sys.argv[1:] == ["check"]:
        check_safetensors(GOLDEN / "blockzoo.safetensors")
        check_npy(GOLDEN)
        print("Python reads what blockzoo wrote")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
