"""Position encodings, each in the place where it acts: python position.py"""

import reference
from golden_file import Weights, case, ramp, write

LLAMA3 = {
    "kind": "llama3",
    "factor": 8.0,
    "low_frequency_factor": 1.0,
    "high_frequency_factor": 4.0,
    "original_context": 512,
}
ROTATIONS = {
    "rope": {},
    "rope with another theta": {"theta": 500000.0},
    "rope, interleaved": {"pairing": "interleaved"},
    "rope on half of the head": {"rotary_fraction": 0.5},
    "rope on a quarter of the head, interleaved": {"rotary_fraction": 0.25, "pairing": "interleaved"},
    "p-RoPE": {"still_fraction": 0.75},
    "p-RoPE, interleaved": {"still_fraction": 0.25, "pairing": "interleaved"},
    "rope, linear scaling": {"scaling": {"kind": "linear", "factor": 4.0}},
    "rope, llama3 scaling": {"theta": 10000.0, "scaling": LLAMA3},
    "rope, yarn": {"scaling": {"kind": "yarn", "factor": 8.0, "original_context": 256}},
    "rope, yarn on half of the head": {
        "rotary_fraction": 0.5,
        "scaling": {
            "kind": "yarn",
            "factor": 4.0,
            "original_context": 64,
            "beta_fast": 16.0,
            "beta_slow": 2.0,
            "attention_factor": 1.5,
        },
    },
    "rope, yarn whose ramp has no width": {
        "scaling": {"kind": "yarn", "factor": 4.0, "original_context": 8, "beta_fast": 32.0, "beta_slow": 31.0}
    },
}

cases = []
for name, fields in ROTATIONS.items():
    config, x = {"kind": "rope", **fields}, ramp("x", [1, 5, 2, 16]).requires_grad_()
    for first in (0, 200):
        y = reference.Position(config, None, 256, 2).rotate(x, first)
        cases.append(
            case(
                f"{name}, from position {first}",
                y,
                {"x": x},
                config=config,
                hook="rotate",
                first=first,
                context=256,
                heads=2,
                input=list(x.shape),
            )
        )

EMBEDDINGS = {
    "learned": {"kind": "learned"},
    "learned with unused rows": {"kind": "learned", "unused_rows": 2},
    "sinusoidal": {"kind": "sinusoidal"},
    "sinusoidal with another theta": {"kind": "sinusoidal", "theta": 100.0},
}
for name, config in EMBEDDINGS.items():
    for first, width in ((0, 6), (3, 7)):
        w, x = Weights(), ramp("x", [2, 4, width]).requires_grad_()
        y = reference.Position(config, w, 9, 2).embed(x, first)
        cases.append(
            case(
                f"{name}, from position {first}",
                y,
                {"x": x, **w.leaves},
                config=config,
                hook="embed",
                first=first,
                context=9,
                heads=2,
                input=list(x.shape),
            )
        )

BIASES = {
    "relative_bias": ({"kind": "relative_bias"}, 2, 200),
    "relative_bias with few buckets": ({"kind": "relative_bias", "buckets": 8, "max_distance": 20}, 3, 32),
    "relative_bias with two buckets": ({"kind": "relative_bias", "buckets": 2, "max_distance": 2}, 1, 6),
}
for name, (config, heads, context) in BIASES.items():
    for distances in (6, context):
        w = Weights()
        y = reference.Position(config, w, context, heads).bias(distances - 1, 1, distances)[:, 0].flip(1)
        cases.append(
            case(
                f"{name}, {distances} distances",
                y,
                w.leaves,
                config=config,
                hook="bias",
                first=0,
                context=context,
                heads=heads,
                input=[distances],
            )
        )
for heads in (1, 2, 3, 6, 8, 12):
    y = reference.Position({"kind": "alibi"}, None, 9, heads).bias(4, 1, 5)[:, 0].flip(1).requires_grad_()
    cases.append(
        case(
            f"alibi with {heads} heads",
            y,
            {},
            config={"kind": "alibi"},
            hook="bias",
            first=0,
            context=9,
            heads=heads,
            input=[5],
        )
    )
write("position", cases)
