"""Attention weights of small models by Hugging Face transformers: python attention_weights.py

Needs the transformers package. The models are built by transformers alone, in float64, with eager attention, which
returns its weights; their parameters are golden_file's, under the names that this zoo gives them."""

import torch
import transformers
from golden_file import Weights, numbers, write
from transformers_names import COMMON, LLAMA, llama_names

TOKENS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}
GROUPED = {"kind": "softmax", "heads": 4, "kv_heads": 2}


def model(**block):
    return {"vocabulary": 11, "width": 8, "layers": 2, "context": 16, "block": {"ffn": {"kind": "glu", "hidden": 6}, **block}}


def weight_of(w, pattern, number, shape):
    return w(pattern.replace("#", number), *shape).detach()


def gpt2_state(module, w):
    """GPT-2's matrices stand the other way round, and hold queries, keys and values side by side."""
    names = {"ln_1": "attention_norm", "ln_2": "ffn_norm", "ln_f": "final_norm"}
    state = {}
    for name, tensor in module.state_dict().items():
        parts = name.split(".")
        number, last = (parts[2] if parts[1] == "h" else ""), parts[-1]
        shape = tuple(tensor.shape)
        if name in ("transformer.wte.weight", "lm_head.weight"):
            state[name] = w("embedding.weight", *shape).detach()
        elif name == "transformer.wpe.weight":
            state[name] = w("position.table.weight", *shape).detach()
        elif parts[-2] in names:
            prefix = f"blocks.{number}." if number else ""
            state[name] = w(f"{prefix}{names[parts[-2]]}.{'gain' if last == 'weight' else 'bias'}", *shape).detach()
        else:
            into = {
                "attn.c_attn": ["attention.query", "attention.key", "attention.value"],
                "attn.c_proj": ["attention.output"],
                "mlp.c_fc": ["ffn.up"],
                "mlp.c_proj": ["ffn.down"],
            }[".".join(parts[3:-1])]
            rows = shape[-1] // len(into)
            each = (rows, shape[0]) if last == "weight" else (rows,)
            own = [w(f"blocks.{number}.{one}.{last}", *each).detach() for one in into]
            state[name] = torch.cat([one.T if last == "weight" else one for one in own], -1)
    return state


def llama_state(module, w):
    names = llama_names()
    state = {}
    for name, tensor in module.state_dict().items():
        number = name.split(".layers.")[-1].split(".")[0]
        (mine,) = [mine for theirs, mine in names.items() if theirs.replace("#", number) == name]
        state[name] = w(mine.replace("#", number), *tensor.shape).detach()
    return state


def case(name, config, module, state_of):
    module = module.double().eval()
    module.load_state_dict(state_of(module, Weights()))
    with torch.no_grad():
        found = module(torch.tensor([TOKENS]), output_attentions=True).attentions
    print(f"{name}: {len(found)} layers, largest row sum off by {max((a.sum(-1) - 1).abs().max().item() for a in found):.1e}")
    layers = [{"shape": list(a[0].shape), "weights": numbers(a[0])} for a in found]
    return {"name": name, "config": config, "layers": layers}


if __name__ == "__main__":
    llama = {**LLAMA, **HEADS, "tie_word_embeddings": False}
    cases = [
        case("llama, grouped", model(attention=GROUPED), transformers.LlamaForCausalLM(transformers.LlamaConfig(**llama)), llama_state),
        case(
            "mistral, with a window",
            model(attention={**GROUPED, "window": 4}),
            transformers.MistralForCausalLM(transformers.MistralConfig(**llama, sliding_window=4)),
            llama_state,
        ),
        case(
            "gpt-2",
            {
                **model(
                    norm={"kind": "layer_norm"},
                    position={"kind": "learned"},
                    attention={"kind": "softmax", "heads": 4} | {f"{part}_bias": True for part in ("query", "key", "value", "output")},
                    ffn={"kind": "mlp", "hidden": 12, "activation": "gelu_tanh", "bias": True},
                ),
                "tied": True,
            },
            transformers.GPT2LMHeadModel(
                transformers.GPT2Config(
                    vocab_size=11, n_positions=16, n_embd=8, n_layer=2, n_head=4, n_inner=12, attn_implementation="eager",
                    resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
                )  # fmt: skip
            ),
            gpt2_state,
        ),
    ]
    write("attention_weights", cases, tokens=TOKENS, transformers=transformers.__version__)
