"""Whole small models: python tiny_model.py"""

import copy

import reference
import torch
from golden_file import Weights, case, write
from small_block import BLOCK, TOKENS

BASE = {"vocabulary": 11, "width": 8, "layers": 2, "context": 8, "block": BLOCK}


def with_block(**parts):
    return {**BASE, "block": {**BLOCK, **parts}}


LN = {"kind": "layer_norm"}
MLP = {"kind": "mlp", "hidden": 9, "activation": "gelu_tanh", "bias": True}
BIASED = {"kind": "softmax", "heads": 2, "query_bias": True, "key_bias": True, "value_bias": True, "output_bias": True}
LATENT = {"kind": "latent", "heads": 2, "key_value_rank": 5, "nope_width": 4, "rope_width": 2, "value_width": 3}
GEMMA_NORM = {"kind": "rms_norm", "unit_offset": True}
LOCAL = {"kind": "softmax", "heads": 2, "kv_heads": 1, "head_width": 4, "softcap": 2.0, "window": 3}
GLOBAL = {**LOCAL, "window": 0}
GEMMA = with_block(
    layout={"kind": "double_norm"},
    norm=GEMMA_NORM,
    attention=LOCAL,
    ffn={"kind": "glu", "activation": "gelu_tanh", "hidden": 6},
)

ALONE = {"kind": "rms_norm", "gain": False}
GEMMA4_LOCAL = {
    "kind": "softmax", "heads": 2, "kv_heads": 1, "head_width": 4, "window": 3, "scale": 1.0,
    "qk_norm": {"kind": "head"}, "value_norm": ALONE,
}  # fmt: skip
GEMMA4_GLOBAL = {**GEMMA4_LOCAL, "head_width": 8, "window": 0}
GEMMA4 = with_block(
    layout={"kind": "double_norm"},
    attention=GEMMA4_LOCAL,
    ffn={"kind": "glu", "activation": "gelu_tanh", "hidden": 6},
    output_factor=True,
)
P_ROPE = {"kind": "rope", "theta": 1000.0, "still_fraction": 0.75}


def gemma4(layers, **more):
    model = {**GEMMA4, "layers": len(layers), "embedding_scale": {"kind": "sqrt_width"}, "final_softcap": 1.5, "tied": True, **more}
    return {**model, "overrides": [{"layers": [number], "block": part} for number, part in enumerate(layers) if part]}


def full(part):
    """The whole block of a layer that a part is laid over."""
    return {**GEMMA4["block"], **part}


DENSE = [{}, {"attention": {**GEMMA4_GLOBAL, "keys_as_values": True}, "position": P_ROPE}]
WIDE = {"kind": "glu", "activation": "gelu_tanh", "hidden": 12}
OWN = [{}, {"attention": GEMMA4_GLOBAL, "position": P_ROPE}]
SHARING = [
    {**part, "attention": {**part.get("attention", GEMMA4_LOCAL), "reuse_keys_values": True}, "ffn": WIDE} for part in OWN
]

MODELS = {
    "llama": BASE,
    "llama, tied": {**BASE, "tied": True},
    "gpt2": {**with_block(norm=LN, position={"kind": "learned"}, attention=BIASED, ffn=MLP), "tied": True},
    "original transformer's decoder": {
        **with_block(
            layout={"kind": "post_norm"},
            norm=LN,
            position={"kind": "sinusoidal"},
            ffn={"kind": "mlp", "activation": "relu", "hidden": 9},
        ),
        "embedding_scale": {"kind": "sqrt_width"},
        "final_norm": {"kind": "none"},
    },
    "opt-350m": {
        **with_block(
            layout={"kind": "post_norm"},
            norm=LN,
            position={"kind": "learned", "unused_rows": 2},
            attention=BIASED,
            ffn={**MLP, "activation": "relu"},
        ),
        "embedding_width": 5,
        "tied": True,
        "final_norm": {"kind": "none"},
    },
    "bloom": {
        **with_block(norm=LN, position={"kind": "alibi"}, attention=BIASED, ffn=MLP),
        "embedding_norm": LN,
        "tied": True,
    },
    "gpt-j": {
        **with_block(
            layout={"kind": "parallel"},
            norm=LN,
            position={"kind": "rope", "rotary_fraction": 0.5, "pairing": "interleaved"},
            ffn=MLP,
        ),
        "head_bias": True,
    },
    "gpt-neox": with_block(
        layout={"kind": "parallel_two_norms"},
        norm=LN,
        position={"kind": "rope", "rotary_fraction": 0.5},
        attention=BIASED,
        ffn=MLP,
    ),
    "olmo 2": with_block(
        layout={"kind": "output_norm"}, attention={"kind": "softmax", "heads": 2, "qk_norm": {"kind": "full"}}
    ),
    "t5-like decoder": {
        **with_block(position={"kind": "relative_bias", "buckets": 6, "max_distance": 5}),
        "tied": True,
        "logit_scale": {"kind": "inverse_sqrt_width"},
    },
    "minicpm": {
        **with_block(),
        "block": {**BLOCK, "residual_scale": 0.7},
        "tied": True,
        "embedding_scale": {"kind": "constant", "value": 12.0},
        "logit_scale": {"kind": "constant", "value": 0.25},
    },
    "deepseek": with_block(attention=LATENT),
    "untied head of another width": {**BASE, "embedding_width": 5},
    "gemma 2, local and global layers": {
        **GEMMA,
        "overrides": [{"layers": "1::2", "block": {"attention": {"window": 0}}}],
        "embedding_scale": {"kind": "sqrt_width"},
        "final_softcap": 1.5,
        "tied": True,
    },
    "no positions on one layer": {**BASE, "overrides": [{"layers": [1], "block": {"position": {"kind": "none"}}}]},
    "gemma 4, keys as values in global layers": gemma4(DENSE),
    "gemma 4, layer embeddings, keys and values of earlier layers": gemma4(OWN + SHARING, layer_embedding_width=3),
    "chinchilla": {
        **with_block(position={"kind": "transformer_xl", "biases": False}, ffn={"kind": "mlp", "hidden": 9}),
        "tied": True,
    },
    "transformer-xl": with_block(position={"kind": "transformer_xl"}, norm=LN, layout={"kind": "post_norm"}),
    "latent keys and values of an earlier layer": {
        **with_block(attention=LATENT),
        "overrides": [{"layers": [1], "block": {"attention": {"reuse_keys_values": True}}}],
    },
    "layer embeddings beside parallel sublayers without norms": {
        **with_block(layout={"kind": "parallel"}, norm={"kind": "none"}, residual_scale=0.5),
        "layer_embedding_width": 5,
    },
}
LAYERS = {
    "gemma 2, local and global layers": [GEMMA["block"], {**GEMMA["block"], "attention": GLOBAL}],
    "no positions on one layer": [BLOCK, {**BLOCK, "position": {"kind": "none"}}],
    "gemma 4, keys as values in global layers": [full(part) for part in DENSE],
    "gemma 4, layer embeddings, keys and values of earlier layers": [full(part) for part in OWN + SHARING],
    "latent keys and values of an earlier layer": [
        {**BLOCK, "attention": LATENT},
        {**BLOCK, "attention": {**LATENT, "reuse_keys_values": True}},
    ],
}

if __name__ == "__main__":
    cases = []
    for name, config in MODELS.items():
        w = Weights()
        logits = reference.model(config, w, torch.tensor(TOKENS), LAYERS.get(name))
        # Norms of a few channels behind each other make more of float32's rounding than the tests allow.
        wide = name.startswith(("gemma 2", "gemma 4"))
        cases.append(case(name, logits, w.leaves, float64_only=wide, config=copy.deepcopy(config)))
    write("tiny_model", cases, tokens=TOKENS)
