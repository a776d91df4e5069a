"""Holds reference.py's models against Hugging Face transformers: python check_against_transformers.py

Needs the transformers package; nothing else in this project does. Prints the largest difference of every comparison and
fails above 5e-6 (what transformers computes in float32 sets that limit)."""

import tiny_model
import torch
import transformers
from transformers_names import COMMON, LLAMA, TOKENS, finish, llama_names, logits_of, model

names = llama_names()
logits_of(
    transformers.LlamaForCausalLM,
    "Llama, grouped",
    model(block={"attention": {"kind": "softmax", "heads": 4, "kv_heads": 2}}),
    transformers.LlamaConfig(
        **LLAMA,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=False,
    ),
    names,
    TOKENS,
)
logits_of(
    transformers.Qwen3ForCausalLM,
    "Qwen 3",
    model(
        block={
            "attention": {"kind": "softmax", "heads": 2, "kv_heads": 1, "head_width": 6, "qk_norm": {"kind": "head"}}
        }
    ),
    transformers.Qwen3Config(
        **LLAMA,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=6,
        tie_word_embeddings=False,
    ),
    names,
    TOKENS,
)
logits_of(
    transformers.Olmo2ForCausalLM,
    "OLMo 2",
    model(
        block={
            "layout": {"kind": "output_norm"},
            "attention": {"kind": "softmax", "heads": 2, "qk_norm": {"kind": "full"}},
        }
    ),
    transformers.Olmo2Config(
        **LLAMA,
        num_attention_heads=2,
        num_key_value_heads=2,
        tie_word_embeddings=False,
        pad_token_id=0,
    ),
    names
    | {
        "model.layers.#.post_attention_layernorm.weight": "blocks.#.attention_output_norm.gain",
        "model.layers.#.post_feedforward_layernorm.weight": "blocks.#.ffn_output_norm.gain",
    },
    TOKENS,
)

LOCAL = {"kind": "softmax", "heads": 2, "kv_heads": 1, "head_width": 4, "softcap": 2.0, "window": 3}
gemma = model(
    block={
        "layout": {"kind": "double_norm"},
        "norm": {"kind": "rms_norm", "unit_offset": True},
        "attention": LOCAL,
        "ffn": {"kind": "glu", "activation": "gelu_tanh", "hidden": 6},
    },
    embedding_scale={"kind": "sqrt_width"},
    final_softcap=1.5,
    tied=True,
)
gemma_layers = [gemma["block"], {**gemma["block"], "attention": {**LOCAL, "window": 0}}]
logits_of(
    transformers.Gemma2ForCausalLM,
    "Gemma 2",
    gemma,
    transformers.Gemma2Config(
        **LLAMA,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=4,
        query_pre_attn_scalar=4,
        attn_logit_softcapping=2.0,
        final_logit_softcapping=1.5,
        sliding_window=3,
        layer_types=["sliding_attention", "full_attention"],
    ),
    names
    | {
        "model.layers.#.post_attention_layernorm.weight": "blocks.#.attention_output_norm.gain",
        "model.layers.#.pre_feedforward_layernorm.weight": "blocks.#.ffn_norm.gain",
        "model.layers.#.post_feedforward_layernorm.weight": "blocks.#.ffn_output_norm.gain",
    },
    TOKENS,
    gemma_layers,
)



def gemma4(config):
    """With the layers' factors as parameters; transformers keeps them as buffers."""
    module = transformers.Gemma4ForCausalLM(config)
    for layer in module.model.layers:
        layer.layer_scalar = torch.nn.Parameter(layer._buffers.pop("layer_scalar"))
    return module


gemma4_names = names | {
    "model.layers.#.post_attention_layernorm.weight": "blocks.#.attention_output_norm.gain",
    "model.layers.#.pre_feedforward_layernorm.weight": "blocks.#.ffn_norm.gain",
    "model.layers.#.post_feedforward_layernorm.weight": "blocks.#.ffn_output_norm.gain",
    "model.layers.#.layer_scalar": "blocks.#.output_factor",
    "model.embed_tokens_per_layer.weight": "layer_embedding.table.weight",
    "model.per_layer_model_projection.weight": "layer_embedding.projection.weight",
    "model.per_layer_projection_norm.weight": "layer_embedding.norm.gain",
    "model.layers.#.per_layer_input_gate.weight": "blocks.#.layer_input.gate.weight",
    "model.layers.#.per_layer_projection.weight": "blocks.#.layer_input.output.weight",
    "model.layers.#.post_per_layer_input_norm.weight": "blocks.#.layer_input.norm.gain",
}
to_float32, torch.Tensor.float = torch.Tensor.float, torch.Tensor.double  # its norms too are taken in float64
for title, changes in {
    "gemma 4, keys as values in global layers": {"attention_k_eq_v": True, "hidden_size_per_layer_input": 0},
    "gemma 4, layer embeddings, keys and values of earlier layers": {
        "hidden_size_per_layer_input": 3,
        "num_kv_shared_layers": 2,
        "use_double_wide_mlp": True,
    },
}.items():
    config = {**tiny_model.MODELS[title], "context": 16}
    logits_of(
        gemma4,
        title,
        config,
        transformers.Gemma4TextConfig(
            **LLAMA | {"num_hidden_layers": config["layers"]},
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=4,
            global_head_dim=8,
            vocab_size_per_layer_input=11,
            final_logit_softcapping=1.5,
            sliding_window=3,
            layer_types=["sliding_attention", "full_attention"] * (config["layers"] // 2),
            rope_parameters={
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "full_attention": {
                    "rope_type": "proportional",
                    "rope_theta": 1000.0,
                    "partial_rotary_factor": 0.25,
                },
            },
            pad_token_id=None,
            **changes,
        ),
        gemma4_names,
        TOKENS,
        tiny_model.LAYERS[title],
    )
torch.Tensor.float = to_float32

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


neox = {
    "gpt_neox.embed_in.weight": "embedding.weight",
    "embed_out.weight": "head.weight",
    "lm_head.weight": "head.weight",
}
for theirs, mine in {
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "ffn_norm",
    "attention.dense": "attention.output",
    "mlp.dense_h_to_4h": "ffn.up",
    "mlp.dense_4h_to_h": "ffn.down",
}.items():
    neox |= pair(f"gpt_neox.layers.#.{theirs}", f"blocks.#.{mine}")
neox |= pair("gpt_neox.final_layer_norm", "final_norm")
neox |= {f"gpt_neox.layers.#.attention.query_key_value.{part}": fused(part, "heads") for part in ("weight", "bias")}
for layout, parallel in (("parallel_two_norms", True), ("pre_norm", False)):
    logits_of(
        transformers.GPTNeoXForCausalLM,
        f"GPT-NeoX, {layout}",
        model(
            block={
                "layout": {"kind": layout},
                "norm": LN,
                "position": {"kind": "rope", "rotary_fraction": 0.5},
                "attention": BIASED,
                "ffn": MLP,
            }
        ),
        transformers.GPTNeoXConfig(
            **COMMON,
            intermediate_size=9,
            num_attention_heads=2,
            rotary_pct=0.5,
            hidden_act="gelu_pytorch_tanh",
            use_parallel_residual=parallel,
            max_position_embeddings=16,
            layer_norm_eps=1e-5,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
        ),
        neox,
        TOKENS,
    )

gptj = {"transformer.wte.weight": "embedding.weight", "lm_head.weight": "head.weight", "lm_head.bias": "head_bias"}
gptj |= pair("transformer.h.#.ln_1", "blocks.#.norm") | pair("transformer.ln_f", "final_norm")
gptj |= pair("transformer.h.#.mlp.fc_in", "blocks.#.ffn.up") | pair("transformer.h.#.mlp.fc_out", "blocks.#.ffn.down")
gptj |= {
    f"transformer.h.#.attn.{t}_proj.weight": f"blocks.#.attention.{m}.weight"
    for t, m in {"q": "query", "k": "key", "v": "value", "out": "output"}.items()
}
logits_of(
    transformers.GPTJForCausalLM,
    "GPT-J",
    model(
        block={
            "layout": {"kind": "parallel"},
            "norm": LN,
            "position": {"kind": "rope", "rotary_fraction": 0.5, "pairing": "interleaved"},
            "ffn": MLP,
        },
        head_bias=True,
    ),
    transformers.GPTJConfig(
        vocab_size=11,
        n_positions=16,
        n_embd=8,
        n_layer=2,
        n_head=2,
        rotary_dim=2,
        n_inner=9,
        attn_implementation="eager",
        tie_word_embeddings=False,
    ),
    gptj,
    TOKENS,
)

gpt2 = {"transformer.wte.weight": "embedding.weight", "transformer.wpe.weight": "position.table.weight"}
gpt2 |= pair("transformer.h.#.ln_1", "blocks.#.attention_norm") | pair("transformer.h.#.ln_2", "blocks.#.ffn_norm")
gpt2 |= pair("transformer.ln_f", "final_norm")
for theirs, mine in {"attn.c_proj": "attention.output", "mlp.c_fc": "ffn.up", "mlp.c_proj": "ffn.down"}.items():
    gpt2[f"transformer.h.#.{theirs}.weight"] = lambda w, n, m=mine: w.leaves[f"blocks.{n}.{m}.weight"].T
    gpt2[f"transformer.h.#.{theirs}.bias"] = f"blocks.#.{mine}.bias"
gpt2["transformer.h.#.attn.c_attn.weight"] = fused("weight", "conv")
gpt2["transformer.h.#.attn.c_attn.bias"] = lambda w, n: torch.cat(
    [w.leaves[f"blocks.{n}.attention.{p}.bias"] for p in ("query", "key", "value")]
)
logits_of(
    transformers.GPT2LMHeadModel,
    "GPT-2",
    model(block={"norm": LN, "position": {"kind": "learned"}, "attention": BIASED, "ffn": MLP}, tied=True),
    transformers.GPT2Config(
        vocab_size=11, n_positions=16, n_embd=8, n_layer=2, n_head=2, n_inner=9, attn_implementation="eager"
    ),
    gpt2,
    TOKENS,
)

bloom = {"transformer.word_embeddings.weight": "embedding.weight"} | pair(
    "transformer.word_embeddings_layernorm", "embedding_norm"
)
bloom |= pair("transformer.h.#.input_layernorm", "blocks.#.attention_norm") | pair("transformer.ln_f", "final_norm")
bloom |= pair("transformer.h.#.post_attention_layernorm", "blocks.#.ffn_norm") | pair(
    "transformer.h.#.self_attention.dense", "blocks.#.attention.output"
)
bloom |= pair("transformer.h.#.mlp.dense_h_to_4h", "blocks.#.ffn.up") | pair(
    "transformer.h.#.mlp.dense_4h_to_h", "blocks.#.ffn.down"
)
bloom |= {f"transformer.h.#.self_attention.query_key_value.{part}": fused(part, "heads") for part in ("weight", "bias")}
logits_of(
    transformers.BloomForCausalLM,
    "BLOOM",
    model(
        block={"norm": LN, "position": {"kind": "alibi"}, "attention": BIASED, "ffn": {**MLP, "hidden": 32}},
        embedding_norm=LN,
        tied=True,
    ),
    transformers.BloomConfig(vocab_size=11, hidden_size=8, n_layer=2, n_head=2, attn_implementation="eager"),
    bloom,
    TOKENS,
)

opt = {
    "model.decoder.embed_tokens.weight": "embedding.weight",
    "model.decoder.embed_positions.weight": "position.table.weight",
    "model.decoder.project_in.weight": "embedding_projection.weight",
    "model.decoder.project_out.weight": "head_projection.weight",
}
for theirs, mine in {
    "self_attn.q_proj": "attention.query",
    "self_attn.k_proj": "attention.key",
    "self_attn.v_proj": "attention.value",
    "self_attn.out_proj": "attention.output",
    "self_attn_layer_norm": "attention_norm",
    "fc1": "ffn.up",
    "fc2": "ffn.down",
    "final_layer_norm": "ffn_norm",
}.items():
    opt |= pair(f"model.decoder.layers.#.{theirs}", f"blocks.#.{mine}")
logits_of(
    transformers.OPTForCausalLM,
    "OPT-350M's wiring",
    model(
        block={
            "layout": {"kind": "post_norm"},
            "norm": LN,
            "position": {"kind": "learned", "unused_rows": 2},
            "attention": BIASED,
            "ffn": {**MLP, "activation": "relu"},
        },
        embedding_width=5,
        tied=True,
        final_norm={"kind": "none"},
    ),
    transformers.OPTConfig(
        **COMMON,
        ffn_dim=9,
        num_attention_heads=2,
        max_position_embeddings=16,
        word_embed_proj_dim=5,
        do_layer_norm_before=False,
    ),
    opt,
    TOKENS,
)

LATENT = {
    "kind": "latent",
    "heads": 2,
    "query_rank": 4,
    "key_value_rank": 5,
    "nope_width": 4,
    "rope_width": 2,
    "value_width": 3,
}
deepseek = names | {
    f"model.layers.#.self_attn.{theirs}.weight": f"blocks.#.attention.{mine}"
    for theirs, mine in {
        "q_a_proj": "query_down.weight",
        "q_a_layernorm": "query_norm.gain",
        "q_b_proj": "query_up.weight",
        "kv_a_proj_with_mqa": "key_value_down.weight",
        "kv_a_layernorm": "key_value_norm.gain",
        "kv_b_proj": "key_value_up.weight",
    }.items()
}
logits_of(
    transformers.DeepseekV3ForCausalLM,
    "DeepSeek V3's attention",
    model(block={"attention": LATENT, "position": {"kind": "rope", "pairing": "interleaved"}}),
    transformers.DeepseekV3Config(
        **LLAMA,
        num_attention_heads=2,
        num_key_value_heads=2,
        q_lora_rank=4,
        kv_lora_rank=5,
        qk_nope_head_dim=4,
        qk_rope_head_dim=2,
        v_head_dim=3,
        first_k_dense_replace=2,
        tie_word_embeddings=False,
        rope_interleave=True,
    ),
    deepseek,
    TOKENS,
)

finish()
