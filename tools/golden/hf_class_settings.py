"""Small settings of every Hugging Face class that is written and read: what check_hf_classes.py builds."""

SIZES = {"vocab_size": 37, "hidden_size": 16, "intermediate_size": 28, "num_hidden_layers": 4, "num_attention_heads": 4,
         "max_position_embeddings": 32, "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
PLAIN = {key: value for key, value in SIZES.items() if key != "intermediate_size"}
GROUPED = SIZES | {"num_key_value_heads": 2}
LAYERS = ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention"]


def rope(theta=10000.0, **more):
    return {"rope_parameters": {"rope_type": "default", "rope_theta": theta} | more}


LLAMA3 = rope(5e5, rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)
YARN = rope(1e4, rope_type="yarn", factor=2.0, original_max_position_embeddings=16, beta_fast=8.0, beta_slow=0.5)
LINEAR = rope(1e4, rope_type="linear", factor=3.0)
MSCALE = rope(1e4, rope_type="yarn", factor=4.0, original_max_position_embeddings=8, mscale=0.7, mscale_all_dim=0.9)
LATENT = {"kv_lora_rank": 6, "qk_nope_head_dim": 4, "qk_rope_head_dim": 4, "v_head_dim": 3, "first_k_dense_replace": 4}
GEMMA4 = SIZES | {"num_key_value_heads": 2, "head_dim": 6, "global_head_dim": 8, "sliding_window": 5, "vocab_size_per_layer_input": 37}
P_ROPE = {"rope_parameters": {"full_attention": {"rope_type": "proportional", "rope_theta": 1e3, "partial_rotary_factor": 0.5},
                              "sliding_attention": {"rope_type": "default", "rope_theta": 1e2}}}
BY_LAYER = {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                                "sliding_attention": {"rope_type": "default", "rope_theta": 1e3}}}

SETTINGS = {
    "LlamaForCausalLM": [
        GROUPED | rope(5e5) | {"rms_norm_eps": 1e-3},
        GROUPED | LLAMA3 | {"attention_bias": True, "mlp_bias": True, "head_dim": 6, "tie_word_embeddings": True},
        SIZES | YARN | {"num_key_value_heads": 1, "hidden_act": "gelu"},
        SIZES | LINEAR | {"hidden_act": "relu", "attention_dropout": 0.1},
        *({**GROUPED, "hidden_act": act} for act in ("sigmoid", "linear", "gelu_pytorch_tanh", "relu2")),
    ],
    "MistralForCausalLM": [GROUPED | {"sliding_window": 5, "head_dim": 6}, GROUPED | {"sliding_window": None, "head_dim": 10}],
    "Qwen2ForCausalLM": [
        GROUPED | rope(1e6),
        GROUPED | {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 2, "tie_word_embeddings": True},
        GROUPED | YARN | {"use_sliding_window": True, "sliding_window": 5, "layer_types": LAYERS},
    ],
    "Qwen3ForCausalLM": [
        GROUPED | rope(1e6) | {"head_dim": 6, "rms_norm_eps": 1e-3},
        GROUPED | {"head_dim": 4, "attention_bias": True, "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
    ],
    "GemmaForCausalLM": [GROUPED | {"head_dim": 6}, SIZES | {"head_dim": 4, "num_key_value_heads": 1, "attention_bias": True}],
    "Gemma2ForCausalLM": [
        GROUPED | {"head_dim": 6, "query_pre_attn_scalar": 9, "sliding_window": 5, "attn_logit_softcapping": 1.5, "final_logit_softcapping": 2.0},
        GROUPED | {"head_dim": 4, "sliding_window": 5, "layer_types": LAYERS, "attn_logit_softcapping": None, "final_logit_softcapping": None},
        GROUPED | {"head_dim": 4, "layer_types": ["full_attention"] * 4},
    ],
    "Gemma3ForCausalLM": [
        GROUPED | BY_LAYER | {"head_dim": 6, "query_pre_attn_scalar": 9, "sliding_window": 5, "layer_types": LAYERS},
        GROUPED | {"head_dim": 4, "sliding_window": 5, "final_logit_softcapping": 2.0},
    ],
    "Gemma4ForCausalLM": [
        GEMMA4 | {"hidden_size_per_layer_input": 0, "attention_k_eq_v": True, "num_global_key_value_heads": 1, "final_logit_softcapping": 2.0,
                  "layer_types": [LAYERS[0], LAYERS[0], LAYERS[0], LAYERS[1]]},
        GEMMA4 | P_ROPE | {"hidden_size_per_layer_input": 5, "num_kv_shared_layers": 2, "use_double_wide_mlp": True, "num_key_value_heads": 1,
                           "layer_types": [LAYERS[0], LAYERS[1]] * 2},
        GEMMA4 | {"hidden_size_per_layer_input": 5, "attention_bias": True, "tie_word_embeddings": False, "rms_norm_eps": 1e-3,
                  "layer_types": ["full_attention"] * 4},
    ],
    "OlmoForCausalLM": [GROUPED | rope(1e3), SIZES | {"num_key_value_heads": 4, "attention_bias": True, "tie_word_embeddings": True}],
    "Olmo2ForCausalLM": [GROUPED | rope(5e5) | {"rms_norm_eps": 1e-3}, GROUPED | YARN | {"attention_bias": True}],
    "Olmo3ForCausalLM": [
        GROUPED | {"sliding_window": 5},
        GROUPED | {"sliding_window": 5, "layer_types": LAYERS, "rope_parameters": {
            "full_attention": YARN["rope_parameters"] | {"rope_theta": 2e4}, "sliding_attention": {"rope_type": "default", "rope_theta": 2e4}}},
    ],
    "Phi3ForCausalLM": [
        GROUPED | {"sliding_window": 5, "resid_pdrop": 0.1},
        GROUPED | rope(1e4, partial_rotary_factor=0.5) | {"sliding_window": None, "tie_word_embeddings": True},
    ],
    "GPT2LMHeadModel": [
        {"vocab_size": 37, "n_embd": 16, "n_layer": 3, "n_head": 4, "n_positions": 32, "bos_token_id": None, "eos_token_id": None},
        {"vocab_size": 37, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32, "n_inner": 16, "activation_function": "relu",
         "layer_norm_epsilon": 1e-3, "tie_word_embeddings": False, "resid_pdrop": 0.0, "bos_token_id": None, "eos_token_id": None},
    ],
    "GPTJForCausalLM": [
        {"vocab_size": 37, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32, "rotary_dim": 4, "bos_token_id": None, "eos_token_id": None},
        {"vocab_size": 37, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 32, "rotary_dim": 4, "n_inner": 20, "activation_function": "relu",
         "layer_norm_epsilon": 1e-3, "attn_pdrop": 0.1, "resid_pdrop": 0.2, "embd_pdrop": 0.3, "bos_token_id": None, "eos_token_id": None},
    ],
    "OPTForCausalLM": [
        PLAIN | {"ffn_dim": 28},
        PLAIN | {"ffn_dim": 28, "do_layer_norm_before": False, "word_embed_proj_dim": 6},
        PLAIN | {"ffn_dim": 28, "enable_bias": False, "layer_norm_elementwise_affine": False, "activation_function": "gelu", "tie_word_embeddings": False},
    ],
    "BloomForCausalLM": [
        {"vocab_size": 37, "hidden_size": 16, "n_layer": 3, "n_head": 4, "layer_norm_epsilon": 1e-3, "seq_length": 32, "bos_token_id": None, "eos_token_id": None},
        {"vocab_size": 37, "hidden_size": 24, "n_layer": 2, "n_head": 6, "hidden_dropout": 0.1, "seq_length": 32, "bos_token_id": None, "eos_token_id": None},
    ],
    "MptForCausalLM": [
        {"vocab_size": 37, "d_model": 16, "n_layers": 3, "n_heads": 4, "max_seq_len": 32},
        {"vocab_size": 37, "d_model": 24, "n_layers": 2, "n_heads": 6, "max_seq_len": 32, "layer_norm_epsilon": 1e-3,
         "attn_config": {"softmax_scale": 0.3, "alibi": True}},
    ],
    "FalconForCausalLM": [
        PLAIN | {"multi_query": True, "parallel_attn": True},
        PLAIN | {"new_decoder_architecture": True, "num_kv_heads": 2, "ffn_hidden_size": 20, "tie_word_embeddings": False},
        PLAIN | {"new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1, "bias": True},
        PLAIN | rope(1e3) | {"multi_query": False, "parallel_attn": False, "bias": True, "activation": "relu"},
    ],
    "StableLmForCausalLM": [
        GROUPED | rope(1e3, partial_rotary_factor=0.5) | {"use_qkv_bias": True},
        GROUPED | rope(1e4, partial_rotary_factor=1.0) | {"use_parallel_residual": True, "qk_layernorm": True, "layer_norm_eps": 1e-3},
    ],
    "CohereForCausalLM": [
        GROUPED | rope(1e3) | {"logit_scale": 0.25, "use_qk_norm": True},
        GROUPED | {"head_dim": 6, "attention_bias": True, "tie_word_embeddings": False, "layer_norm_eps": 1e-3},
    ],
    "Cohere2ForCausalLM": [
        GROUPED | rope(1e3) | {"sliding_window": 5, "logit_scale": 1.0},
        GROUPED | {"sliding_window": 5, "layer_types": LAYERS, "attention_bias": True},
    ],
    "NemotronForCausalLM": [
        GROUPED | rope(1e3, partial_rotary_factor=0.5) | {"norm_eps": 1e-3},
        GROUPED | rope(1e4, partial_rotary_factor=1.0) | {"head_dim": 6, "attention_bias": True, "mlp_bias": True, "hidden_act": "gelu"},
    ],
    "SmolLM3ForCausalLM": [
        GROUPED | rope(1e3),
        GROUPED | {"use_sliding_window": True, "sliding_window": 5, "no_rope_layers": [1, 0, 0, 1], "mlp_bias": True},
    ],
    "Starcoder2ForCausalLM": [
        GROUPED | rope(1e3) | {"sliding_window": 5, "norm_epsilon": 1e-3},
        GROUPED | {"use_bias": False, "tie_word_embeddings": False, "residual_dropout": 0.1, "embedding_dropout": 0.2, "head_dim": 6},
    ],
    "GraniteForCausalLM": [
        GROUPED | {"embedding_multiplier": 3.0, "logits_scaling": 4.0, "residual_multiplier": 0.3, "attention_multiplier": 0.2},
        GROUPED | {"attention_bias": True, "mlp_bias": True, "attention_multiplier": 0.5},
    ],
    "PhiForCausalLM": [
        GROUPED | rope(1e3, partial_rotary_factor=0.5),
        SIZES | rope(1e4, partial_rotary_factor=1.0) | {"qk_layernorm": True, "resid_pdrop": 0.1, "embd_pdrop": 0.2, "layer_norm_eps": 1e-3},
    ],
    "DeepseekV2ForCausalLM": [
        SIZES | LATENT | {"q_lora_rank": 6, "n_routed_experts": 4},
        SIZES | LATENT | MSCALE | {"q_lora_rank": None, "n_routed_experts": 4, "mlp_bias": True},
    ],
    "DeepseekV3ForCausalLM": [
        SIZES | {"num_key_value_heads": 4} | LATENT | {"q_lora_rank": 6, "n_routed_experts": 8},
        SIZES | {"num_key_value_heads": 4} | LATENT | MSCALE | {"q_lora_rank": None, "rope_interleave": False, "n_routed_experts": 8},
    ],
    "GPTNeoXForCausalLM": [
        SIZES | rope(1e4, partial_rotary_factor=0.5) | {"use_parallel_residual": True, "layer_norm_eps": 1e-3},
        SIZES | rope(1e3, partial_rotary_factor=1.0) | {"use_parallel_residual": False, "hidden_act": "gelu_new", "hidden_dropout": 0.1},
        SIZES | rope(1e3, partial_rotary_factor=0.5) | {"attention_bias": False, "tie_word_embeddings": True},
    ],
}
