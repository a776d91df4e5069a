"""Holds reference.py against Hugging Face transformers: python check_against_transformers.py

Needs the transformers package; nothing else in this project does. Prints the largest difference of every comparison and
fails above 5e-6 (what transformers computes in float32 sets that limit)."""

import math
import sys

import reference
import torch
import transformers
from golden_file import Weights, ramp
from transformers import modeling_rope_utils
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

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
TOKENS = torch.tensor([[3, 1, 4, 1, 5, 9, 2], [6, 5, 3, 5, 8, 10, 0]])
BLOCK = {
    "layout": {"kind": "pre_norm"},
    "norm": {"kind": "rms_norm"},
    "position": {"kind": "rope"},
    "attention": {"kind": "softmax", "heads": 2},
    "ffn": {"kind": "glu", "hidden": 6},
}


def model(**changes):
    block = {**BLOCK, **changes.pop("block", {})}
    return {"vocabulary": 11, "width": 8, "layers": 2, "context": 16, "block": block, **changes}


def llama_names(attention="self_attn", mlp="mlp"):
    names = {"model.embed_tokens.weight": "embedding.weight", "model.norm.weight": "final_norm.gain", "lm_head.weight": "head.weight"}
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


# Frequencies of every scaling.
for scaling, theirs in (
    ({"kind": "linear", "factor": 4.0}, {"rope_type": "linear", "factor": 4.0}),
    (
        {"kind": "llama3", "factor": 8.0, "low_frequency_factor": 1.0, "high_frequency_factor": 4.0, "original_context": 512},
        {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 512},
    ),
    (
        {"kind": "yarn", "factor": 8.0, "original_context": 256},
        {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 256},
    ),
):
    config = transformers.LlamaConfig(
        hidden_size=64, num_attention_heads=2, max_position_embeddings=4096, rope_parameters={"rope_theta": 10000.0, **theirs}
    )
    inverse, factor = modeling_rope_utils.ROPE_INIT_FUNCTIONS[theirs["rope_type"]](config, "cpu")
    radians, magnitude = reference.rope_frequencies({"scaling": scaling}, 32)
    compare(f"rope frequencies, {scaling['kind']}", radians, inverse.double())
    assert math.isclose(magnitude, factor), (magnitude, factor)

# ALiBi, whose bias transformers counts from key 0: equal up to a number for each row.
for heads in (1, 3, 8, 12):
    theirs = build_alibi_tensor(torch.ones(1, 9), heads, torch.float64).view(heads, 1, 9)
    ours = torch.tensor(reference.alibi_slopes(heads)).view(-1, 1, 1) * torch.arange(9)
    compare(f"alibi, {heads} heads", ours, theirs)

# T5's buckets.
for buckets, longest in ((32, 128), (8, 20), (16, 100)):
    distance = torch.arange(0, 300)
    theirs = T5Attention._relative_position_bucket(-distance, bidirectional=False, num_buckets=buckets, max_distance=longest)
    ours = torch.tensor([reference.t5_bucket(d, buckets, longest) for d in distance.tolist()])
    compare(f"T5 buckets {buckets}, {longest}", ours.double(), theirs.double(), 0)

names = llama_names()
logits_of(
    transformers.LlamaForCausalLM, "Llama, grouped", model(block={"attention": {"kind": "softmax", "heads": 4, "kv_heads": 2}}),
    transformers.LlamaConfig(**COMMON, intermediate_size=6, num_attention_heads=4, num_key_value_heads=2, rms_norm_eps=1e-6,
                             max_position_embeddings=16, tie_word_embeddings=False), names, TOKENS)
logits_of(
    transformers.Qwen3ForCausalLM, "Qwen 3", model(block={"attention": {"kind": "softmax", "heads": 2, "kv_heads": 1, "head_width": 6, "qk_norm": {"kind": "head"}}}),
    transformers.Qwen3Config(**COMMON, intermediate_size=6, num_attention_heads=2, num_key_value_heads=1, head_dim=6,
                             rms_norm_eps=1e-6, max_position_embeddings=16, tie_word_embeddings=False), names, TOKENS)
logits_of(
    transformers.Olmo2ForCausalLM, "OLMo 2", model(block={"layout": {"kind": "output_norm"}, "attention": {"kind": "softmax", "heads": 2, "qk_norm": {"kind": "full"}}}),
    transformers.Olmo2Config(**COMMON, intermediate_size=6, num_attention_heads=2, num_key_value_heads=2, rms_norm_eps=1e-6,
                             max_position_embeddings=16, tie_word_embeddings=False, pad_token_id=0),
    names | {"model.layers.#.post_attention_layernorm.weight": "blocks.#.attention_output_norm.gain",
             "model.layers.#.post_feedforward_layernorm.weight": "blocks.#.ffn_output_norm.gain"}, TOKENS)

LOCAL = {"kind": "softmax", "heads": 2, "kv_heads": 1, "head_width": 4, "softcap": 2.0, "window": 3}
gemma = model(block={"layout": {"kind": "double_norm"}, "norm": {"kind": "rms_norm", "unit_offset": True}, "attention": LOCAL,
                     "ffn": {"kind": "glu", "activation": "gelu_tanh", "hidden": 6}},
              embedding_scale={"kind": "sqrt_width"}, final_softcap=1.5, tied=True)
gemma_layers = [gemma["block"], {**gemma["block"], "attention": {**LOCAL, "window": 0}}]
logits_of(
    transformers.Gemma2ForCausalLM, "Gemma 2", gemma,
    transformers.Gemma2Config(**COMMON, intermediate_size=6, num_attention_heads=2, num_key_value_heads=1, head_dim=4,
                              query_pre_attn_scalar=4, attn_logit_softcapping=2.0, final_logit_softcapping=1.5, sliding_window=3,
                              rms_norm_eps=1e-6, max_position_embeddings=16, layer_types=["sliding_attention", "full_attention"]),
    names | {"model.layers.#.post_attention_layernorm.weight": "blocks.#.attention_output_norm.gain",
             "model.layers.#.pre_feedforward_layernorm.weight": "blocks.#.ffn_norm.gain",
             "model.layers.#.post_feedforward_layernorm.weight": "blocks.#.ffn_output_norm.gain"}, TOKENS, gemma_layers)

LN, MLP = {"kind": "layer_norm"}, {"kind": "mlp", "activation": "gelu_tanh", "hidden": 9, "bias": True}
BIASED = {"kind": "softmax", "heads": 2, "query_bias": True, "key_bias": True, "value_bias": True, "output_bias": True}


def fused(part, order):
    """Rows [heads, 3, K] (GPT-NeoX, BLOOM) or [3, heads K] transposed (GPT-2)."""

    def build(w, n):
        parts = [w.leaves[f"blocks.{n}.attention.{one}.{part}"] for one in ("query", "key", "value")]
        if order == "conv":
            return torch.cat(parts).T
        return torch.stack([one.view(2, 4, -1) for one in parts], 1).reshape(24, -1).squeeze(-1)

    return build


def pair(theirs, mine):
    norm = mine.endswith("norm")
    return {f"{theirs}.weight": f"{mine}.{'gain' if norm else 'weight'}", f"{theirs}.bias": f"{mine}.bias"}


neox = {"gpt_neox.embed_in.weight": "embedding.weight", "embed_out.weight": "head.weight", "lm_head.weight": "head.weight"}
for theirs, mine in {"input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm", "attention.dense": "attention.output",
                     "mlp.dense_h_to_4h": "ffn.up", "mlp.dense_4h_to_h": "ffn.down"}.items():
    neox |= pair(f"gpt_neox.layers.#.{theirs}", f"blocks.#.{mine}")
neox |= pair("gpt_neox.final_layer_norm", "final_norm")
neox |= {f"gpt_neox.layers.#.attention.query_key_value.{part}": fused(part, "heads") for part in ("weight", "bias")}
for layout, parallel in (("parallel_two_norms", True), ("pre_norm", False)):
    logits_of(
        transformers.GPTNeoXForCausalLM, f"GPT-NeoX, {layout}",
        model(block={"layout": {"kind": layout}, "norm": LN, "position": {"kind": "rope", "rotary_fraction": 0.5}, "attention": BIASED, "ffn": MLP}),
        transformers.GPTNeoXConfig(**COMMON, intermediate_size=9, num_attention_heads=2, rotary_pct=0.5, hidden_act="gelu_pytorch_tanh",
                                   use_parallel_residual=parallel, max_position_embeddings=16, layer_norm_eps=1e-5,
                                   rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}),
        neox, TOKENS)

gptj = {"transformer.wte.weight": "embedding.weight", "lm_head.weight": "head.weight", "lm_head.bias": "head_bias"}
gptj |= pair("transformer.h.#.ln_1", "blocks.#.norm") | pair("transformer.ln_f", "final_norm")
gptj |= pair("transformer.h.#.mlp.fc_in", "blocks.#.ffn.up") | pair("transformer.h.#.mlp.fc_out", "blocks.#.ffn.down")
gptj |= {f"transformer.h.#.attn.{t}_proj.weight": f"blocks.#.attention.{m}.weight" for t, m in
         {"q": "query", "k": "key", "v": "value", "out": "output"}.items()}
logits_of(
    transformers.GPTJForCausalLM, "GPT-J",
    model(block={"layout": {"kind": "parallel"}, "norm": LN, "position": {"kind": "rope", "rotary_fraction": 0.5, "pairing": "interleaved"}, "ffn": MLP},
          head_bias=True),
    transformers.GPTJConfig(vocab_size=11, n_positions=16, n_embd=8, n_layer=2, n_head=2, rotary_dim=2, n_inner=9,
                            attn_implementation="eager", tie_word_embeddings=False), gptj, TOKENS)

gpt2 = {"transformer.wte.weight": "embedding.weight", "transformer.wpe.weight": "position.table.weight"}
gpt2 |= pair("transformer.h.#.ln_1", "blocks.#.attention_norm") | pair("transformer.h.#.ln_2", "blocks.#.ffn_norm")
gpt2 |= pair("transformer.ln_f", "final_norm")
for theirs, mine in {"attn.c_proj": "attention.output", "mlp.c_fc": "ffn.up", "mlp.c_proj": "ffn.down"}.items():
    gpt2[f"transformer.h.#.{theirs}.weight"] = lambda w, n, m=mine: w.leaves[f"blocks.{n}.{m}.weight"].T
    gpt2[f"transformer.h.#.{theirs}.bias"] = f"blocks.#.{mine}.bias"
gpt2["transformer.h.#.attn.c_attn.weight"] = fused("weight", "conv")
gpt2["transformer.h.#.attn.c_attn.bias"] = lambda w, n: torch.cat([w.leaves[f"blocks.{n}.attention.{p}.bias"] for p in ("query", "key", "value")])
logits_of(
    transformers.GPT2LMHeadModel, "GPT-2", model(block={"norm": LN, "position": {"kind": "learned"}, "attention": BIASED, "ffn": MLP}, tied=True),
    transformers.GPT2Config(vocab_size=11, n_positions=16, n_embd=8, n_layer=2, n_head=2, n_inner=9, attn_implementation="eager"),
    gpt2, TOKENS)

bloom = {"transformer.word_embeddings.weight": "embedding.weight"} | pair("transformer.word_embeddings_layernorm", "embedding_norm")
bloom |= pair("transformer.h.#.input_layernorm", "blocks.#.attention_norm") | pair("transformer.ln_f", "final_norm")
bloom |= pair("transformer.h.#.post_attention_layernorm", "blocks.#.ffn_norm") | pair("transformer.h.#.self_attention.dense", "blocks.#.attention.output")
bloom |= pair("transformer.h.#.mlp.dense_h_to_4h", "blocks.#.ffn.up") | pair("transformer.h.#.mlp.dense_4h_to_h", "blocks.#.ffn.down")
bloom |= {f"transformer.h.#.self_attention.query_key_value.{part}": fused(part, "heads") for part in ("weight", "bias")}
logits_of(
    transformers.BloomForCausalLM, "BLOOM",
    model(block={"norm": LN, "position": {"kind": "alibi"}, "attention": BIASED, "ffn": {**MLP, "hidden": 32}}, embedding_norm=LN, tied=True),
    transformers.BloomConfig(vocab_size=11, hidden_size=8, n_layer=2, n_head=2, attn_implementation="eager"), bloom, TOKENS)

opt = {"model.decoder.embed_tokens.weight": "embedding.weight", "model.decoder.embed_positions.weight": "position.table.weight",
       "model.decoder.project_in.weight": "embedding_projection.weight", "model.decoder.project_out.weight": "head_projection.weight"}
for theirs, mine in {"self_attn.q_proj": "attention.query", "self_attn.k_proj": "attention.key", "self_attn.v_proj": "attention.value",
                     "self_attn.out_proj": "attention.output", "self_attn_layer_norm": "attention_norm", "fc1": "ffn.up", "fc2": "ffn.down",
                     "final_layer_norm": "ffn_norm"}.items():
    opt |= pair(f"model.decoder.layers.#.{theirs}", f"blocks.#.{mine}")
logits_of(
    transformers.OPTForCausalLM, "OPT-350M's wiring",
    model(block={"layout": {"kind": "post_norm"}, "norm": LN, "position": {"kind": "learned", "unused_rows": 2}, "attention": BIASED,
                 "ffn": {**MLP, "activation": "relu"}}, embedding_width=5, tied=True, final_norm={"kind": "none"}),
    transformers.OPTConfig(**COMMON, ffn_dim=9, num_attention_heads=2, max_position_embeddings=16, word_embed_proj_dim=5,
                           do_layer_norm_before=False), opt, TOKENS)

LATENT = {"kind": "latent", "heads": 2, "query_rank": 4, "key_value_rank": 5, "nope_width": 4, "rope_width": 2, "value_width": 3}
deepseek = names | {
    f"model.layers.#.self_attn.{theirs}.weight": f"blocks.#.attention.{mine}"
    for theirs, mine in {"q_a_proj": "query_down.weight", "q_a_layernorm": "query_norm.gain", "q_b_proj": "query_up.weight",
                         "kv_a_proj_with_mqa": "key_value_down.weight", "kv_a_layernorm": "key_value_norm.gain",
                         "kv_b_proj": "key_value_up.weight"}.items()
}
logits_of(
    transformers.DeepseekV3ForCausalLM, "DeepSeek V3's attention",
    model(block={"attention": LATENT, "position": {"kind": "rope", "pairing": "interleaved"}}),
    transformers.DeepseekV3Config(**COMMON, intermediate_size=6, num_attention_heads=2, num_key_value_heads=2, q_lora_rank=4,
                                  kv_lora_rank=5, qk_nope_head_dim=4, qk_rope_head_dim=2, v_head_dim=3, first_k_dense_replace=2,
                                  max_position_embeddings=16, rms_norm_eps=1e-6, tie_word_embeddings=False, rope_interleave=True), deepseek, TOKENS)

print("transformers", transformers.__version__, "torch", torch.__version__)
if failed:
    sys.exit("differ: " + ", ".join(failed))
