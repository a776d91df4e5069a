"""The block and the tokens of the small models."""

BLOCK = {
    "layout": {"kind": "pre_norm"},
    "norm": {"kind": "rms_norm"},
    "position": {"kind": "rope"},
    "attention": {"kind": "softmax", "heads": 2},
    "ffn": {"kind": "glu", "hidden": 6},
}
TOKENS = [[3, 1, 4, 1, 5, 9, 2], [6, 5, 3, 5, 8, 10, 0]]
