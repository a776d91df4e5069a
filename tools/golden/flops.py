"""FLOPs of published shapes by PyTorch's FlopCounterMode on the classes of Hugging Face transformers: python flops.py

Needs transformers. Models are built on the meta device, which needs neither memory nor weights, with eager attention,
whose scores and values are matrix products that the counter sees (all pairs of query and key, whatever the mask hides).
One sequence of `tokens` tokens, forward and backward; the loss is the sum of the logits."""

import torch
import transformers
from golden_file import write
from torch.utils.flop_counter import FlopCounterMode

NONE = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}


def llama(width, layers, heads, hidden, vocabulary, **more):
    return {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads, "intermediate_size": hidden,
            "vocab_size": vocabulary} | NONE | more


def ours(width, layers, vocabulary, attention, ffn, **more):
    return {"width": width, "layers": layers, "vocabulary": vocabulary} | more | {
        "block": more.get("block", {}) | {"attention": attention, "ffn": ffn}}


def glu(hidden):
    return {"kind": "glu", "hidden": hidden}


def mlp(hidden):
    return {"kind": "mlp", "hidden": hidden, "bias": True}


BIASES = {"query_bias": True, "key_bias": True, "value_bias": True, "output_bias": True}
MLA = {"kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
LATENT = {"kind": "latent", "query_rank": 1536, "key_value_rank": 512, "nope_width": 128, "rope_width": 64, "value_width": 128}

CASES = [
    # (name, transformers' class and settings, tokens, the same model here)
    ("Llama 2 7B: multi-head, gated", "Llama", llama(4096, 32, 32, 11008, 32000), 1024,
     ours(4096, 32, 32000, {"heads": 32}, glu(11008))),
    ("Llama 3 8B: grouped", "Llama", llama(4096, 32, 32, 14336, 128256, num_key_value_heads=8), 2048,
     ours(4096, 32, 128256, {"heads": 32, "kv_heads": 8}, glu(14336))),
    ("Llama, tied, one key head", "Llama", llama(768, 12, 12, 2048, 32000, num_key_value_heads=1, tie_word_embeddings=True), 512,
     ours(768, 12, 32000, {"heads": 12, "kv_heads": 1}, glu(2048), tied=True)),
    ("GPT-2 XL: plain, biases, tied", "GPT2LMHead",
     {"n_embd": 1600, "n_layer": 48, "n_head": 25, "vocab_size": 50257, "n_positions": 1024} | NONE, 1024,
     ours(1600, 48, 50257, {"heads": 25} | BIASES, mlp(6400), tied=True, block={"position": {"kind": "learned"}})),
    ("GPT-NeoX 20B: parallel, partial rotation", "GPTNeoX", llama(6144, 44, 64, 24576, 50432), 512,
     ours(6144, 44, 50432, {"heads": 64} | BIASES, mlp(24576),
          block={"layout": {"kind": "parallel_two_norms"}, "position": {"kind": "rope", "rotary_fraction": 0.25}})),
    ("Gemma 2 2B: windows, soft caps, wide heads", "Gemma2",
     llama(2304, 26, 8, 9216, 256000, num_key_value_heads=4, head_dim=256, sliding_window=256), 1024,
     ours(2304, 26, 256000, {"heads": 8, "kv_heads": 4, "head_width": 256, "window": 256, "softcap": 50.0}, glu(9216),
          tied=True, final_softcap=30.0)),
    ("OLMo 2 7B: norm of queries and keys", "Olmo2", llama(4096, 32, 32, 11008, 100352), 1024,
     ours(4096, 32, 100352, {"heads": 32, "qk_norm": {"kind": "full"}}, glu(11008))),
    ("DeepSeek-V2, dense: MLA with a latent of queries", "DeepseekV2",
     llama(5120, 8, 128, 12288, 102400, first_k_dense_replace=8, num_key_value_heads=128, **MLA), 512,
     ours(5120, 8, 102400, LATENT | {"heads": 128}, glu(12288))),
    ("DeepSeek-V2-Lite, dense: MLA, queries straight from the stream", "DeepseekV2",
     llama(2048, 8, 16, 10944, 102400, first_k_dense_replace=8, num_key_value_heads=16, **(MLA | {"q_lora_rank": None})), 512,
     ours(2048, 8, 102400, LATENT | {"heads": 16, "query_rank": 0}, glu(10944))),
]


def counted(name, settings, tokens):
    """FLOPs of the forward pass, and of forward and backward together."""
    config = getattr(transformers, name.removesuffix("LMHead") + "Config")(attn_implementation="eager", use_cache=False, **settings)
    model_class = getattr(transformers, name + "Model" if name.endswith("LMHead") else name + "ForCausalLM")
    with torch.device("meta"):
        model = model_class(config).train()
        ids = torch.zeros((1, tokens), dtype=torch.long)
        mask = torch.zeros((1, 1, tokens, tokens))  # ready-made, since making one reads numbers
    forward = FlopCounterMode(display=False)
    with forward:
        logits = model(ids, attention_mask=mask).logits
    backward = FlopCounterMode(display=False)
    with backward:
        logits.sum().backward()
    return forward.get_total_flops(), forward.get_total_flops() + backward.get_total_flops()


torch.set_default_dtype(torch.float32)
cases = []
for name, model_class, settings, tokens, model in CASES:
    forward, training = counted(model_class, settings, tokens)
    cases.append({"name": name, "class": model_class, "tokens": tokens, "model": model | {"context": tokens}, "forward": forward,
                  "training": training})
    print(name, forward, training / forward)
write("flops", cases, transformers=transformers.__version__)
