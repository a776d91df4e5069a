"""Puts reference.py's weights into models of Hugging Face transformers and compares logits."""

import sys

import reference
import small_block
import torch
import transformers
from golden_file import Weights

failed = []


def compare(name, ours, theirs, limit=5e-6):
    difference = (ours - theirs).abs().max().item()
    print(f"{difference:9.1e}  {name}")
    if not difference <= limit:
        failed.append(name)


def fill(module, w, names):
    """Copies weights into a transformers module; `names` maps its names to ours (or to a function of w)."""
    state = {key: (value(w) if callable(value) else w.leaves[value]).detach() for key, value in names.items()}
    missing = set(dict(module.named_parameters())) - set(state)
    assert not missing, missing
    module.load_state_dict(state, strict=False)


def logits_of(kind, name, config, hf_config, names, tokens, layers=None):
    w = Weights()
    ours = reference.model(config, w, tokens, layers)
    module = kind(hf_config).double().eval()
    mapping = {}
    for theirs in dict(module.named_parameters()):
        number = theirs.split(".layers.")[-1].split(".h.")[-1].split(".")[0]
        for pattern, mine in names.items():
            if pattern.replace("#", number) == theirs:
                mapping[theirs] = (lambda w, f=mine, n=number: f(w, n)) if callable(mine) else mine.replace("#", number)
    fill(module, w, mapping)
    compare(name, ours, module(tokens).logits)


COMMON = {"vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 2, "attn_implementation": "eager"}
LLAMA = COMMON | {"intermediate_size": 6, "rms_norm_eps": 1e-6, "max_position_embeddings": 16}
TOKENS = torch.tensor(small_block.TOKENS)


def model(**changes):
    block = {**small_block.BLOCK, **changes.pop("block", {})}
    return {"vocabulary": 11, "width": 8, "layers": 2, "context": 16, "block": block, **changes}


def llama_names(attention="self_attn", mlp="mlp"):
    names = {
        "model.embed_tokens.weight": "embedding.weight",
        "model.norm.weight": "final_norm.gain",
        "lm_head.weight": "head.weight",
    }
    for theirs, mine in {"q_proj": "query", "k_proj": "key", "v_proj": "value", "o_proj": "output"}.items():
        for part in ("weight", "bias"):
            names[f"model.layers.#.{attention}.{theirs}.{part}"] = f"blocks.#.attention.{mine}.{part}"
    for theirs, mine in {"gate_proj": "gate", "up_proj": "up", "down_proj": "down"}.items():
        names[f"model.layers.#.{mlp}.{theirs}.weight"] = f"blocks.#.ffn.{mine}.weight"
    return names | {
        "model.layers.#.input_layernorm.weight": "blocks.#.attention_norm.gain",
        "model.layers.#.post_attention_layernorm.weight": "blocks.#.ffn_norm.gain",
        "model.layers.#.self_attn.q_norm.weight": "blocks.#.attention.query_norm.gain",
        "model.layers.#.self_attn.k_norm.weight": "blocks.#.attention.key_norm.gain",
    }


def finish():
    print("transformers", transformers.__version__, "torch", torch.__version__)
    if failed:
        sys.exit("differ: " + ", ".join(failed))
