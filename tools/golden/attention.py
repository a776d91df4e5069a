"""Attention sublayers: python attention.py"""

import reference
from golden_file import Weights, case, ramp, write

LN = {"kind": "layer_norm", "bias": False}
ROPE, ALIBI, T5 = {"kind": "rope"}, {"kind": "alibi"}, {"kind": "relative_bias", "buckets": 8, "max_distance": 6}
XL = {"kind": "transformer_xl"}
HALF_ROPE = {"kind": "rope", "rotary_fraction": 0.5, "pairing": "interleaved"}
NONE = {"kind": "none"}
PLAIN_RMS = {"kind": "rms_norm", "gain": False}
SOFTMAX = {
    "multi-head": ({"heads": 4}, NONE),
    "multi-head with rope": ({"heads": 2}, ROPE),
    "grouped": ({"heads": 4, "kv_heads": 2, "head_width": 4}, ROPE),
    "grouped, the last group larger than the batch": ({"heads": 6, "kv_heads": 2, "head_width": 2}, NONE),
    "multi-query": ({"heads": 4, "kv_heads": 1, "head_width": 4}, HALF_ROPE),
    "window": ({"heads": 2, "window": 3}, ROPE),
    "window of one": ({"heads": 2, "window": 1}, NONE),
    "window longer than the sequence": ({"heads": 2, "window": 50}, NONE),
    "window, grouped": ({"heads": 4, "kv_heads": 2, "window": 2, "head_width": 4}, NONE),
    "soft cap": ({"heads": 2, "softcap": 0.5}, ROPE),
    "soft cap, window, grouped": ({"heads": 4, "kv_heads": 2, "head_width": 4, "softcap": 0.5, "window": 4}, ROPE),
    "alibi": ({"heads": 3, "head_width": 4}, ALIBI),
    "alibi, window, multi-query": ({"heads": 4, "kv_heads": 1, "window": 3}, ALIBI),
    "relative bias, grouped": ({"heads": 4, "kv_heads": 2}, T5),
    "relative bias with a soft cap": ({"heads": 2, "softcap": 1.5}, T5),
    "head norm": ({"heads": 4, "kv_heads": 2, "head_width": 4, "qk_norm": {"kind": "head"}}, ROPE),
    "head norm by layer norm": ({"heads": 2, "qk_norm": {"kind": "head", "norm": LN}}, ROPE),
    "head norm, a gain for each": (
        {"heads": 4, "kv_heads": 2, "head_width": 4, "qk_norm": {"kind": "head_own", "norm": LN}},
        ROPE,
    ),
    "full norm": ({"heads": 4, "kv_heads": 2, "head_width": 4, "qk_norm": {"kind": "full"}}, ROPE),
    "full norm by layer norm with bias": (
        {"heads": 2, "qk_norm": {"kind": "full", "norm": {"kind": "layer_norm"}}},
        NONE,
    ),
    "query, key and value biases": ({"heads": 2, "query_bias": True, "key_bias": True, "value_bias": True}, ROPE),
    "query bias": ({"heads": 2, "query_bias": True}, NONE),
    "output bias": ({"heads": 2, "output_bias": True}, NONE),
    "given scale": ({"heads": 2, "scale": 0.1}, NONE),
    "heads narrower than width / heads": ({"heads": 2, "head_width": 2}, ROPE),
    "transformer-xl": ({"heads": 2}, XL),
    "transformer-xl, grouped, window": ({"heads": 4, "kv_heads": 2, "head_width": 4, "window": 4}, XL),
    "transformer-xl without biases, soft cap, scale": (
        {"heads": 2, "softcap": 0.5, "scale": 0.7},
        {**XL, "biases": False, "theta": 100.0},
    ),
    "keys as values": ({"heads": 4, "kv_heads": 2, "head_width": 4, "keys_as_values": True}, ROPE),
    "keys as values, norms of both": (
        {"heads": 2, "keys_as_values": True, "key_bias": True, "qk_norm": {"kind": "head"}, "value_norm": PLAIN_RMS},
        ROPE,
    ),
    "norm of values": ({"heads": 4, "kv_heads": 2, "head_width": 4, "value_norm": {"kind": "rms_norm"}}, NONE),
    "norm of values by layer norm": ({"heads": 2, "value_bias": True, "value_norm": LN}, ROPE),
}
WIDTHS = {"key_value_rank": 5, "nope_width": 4, "rope_width": 2, "value_width": 3}
LATENT = {
    "latent": ({"heads": 2, **WIDTHS}, ROPE),
    "latent, queries through a latent": (
        {"heads": 2, "query_rank": 4, **WIDTHS},
        {"kind": "rope", "pairing": "interleaved"},
    ),
    "latent without norm, window": ({"heads": 2, "latent_norm": NONE, "window": 3, **WIDTHS}, ROPE),
    "latent, soft cap, scale, output bias": (
        {"heads": 2, "softcap": 0.5, "scale": 0.7, "output_bias": True, **WIDTHS},
        ROPE,
    ),
    "latent with alibi": ({"heads": 3, **WIDTHS, "rope_width": 4}, ALIBI),
    "latent, value as wide as key": ({"heads": 2, **WIDTHS, "value_width": 6}, NONE),
    "latent with transformer-xl, norm of values": ({"heads": 2, **WIDTHS, "value_norm": {"kind": "rms_norm"}}, XL),
}

cases = []
for kind, table in (("softmax", SOFTMAX), ("latent", LATENT)):
    for name, (fields, position) in table.items():
        config, w, x = {"kind": kind, **fields}, Weights(), (2 * ramp("x", [2, 7, 8])).requires_grad_()
        own = reference.Position(position, w.below("position"), 16, config["heads"], x.shape[-1])
        y = reference.attention(config, w, x, own)
        leaves = {"x": x, **w.leaves}
        cases.append(case(name, y, leaves, config=config, position=position, context=16, input=list(x.shape)))
write("attention", cases)
