#include "hub/classes/parts.h"

// BLOOM and MPT: slopes instead of positions, four times the width in the feed-forward layers.

namespace blockzoo {
namespace {

void four_times(ConfigMap& map, const Stack& stack, BlockConfig& block, Activation activation, bool bias) {
  auto& ffn = map.kind<MlpConfig>(block.ffn);
  map.implied(ffn.activation, activation);
  map.implied(ffn.hidden, 4 * stack.model.width);
  map.implied(ffn.bias, bias);
}

void bloom(ConfigMap& map, Stack& stack) {
  auto& model = stack.model;
  map.also_called("hidden_size", "n_embed");
  map.also_called("n_layer", "num_hidden_layers");
  map.also_called("n_head", "num_attention_heads");
  sizes(map, stack, {.layers = "n_layer", .context = "seq_length", .tied = true, .usual_context = 2048});
  layer_norm(map, final_norm(stack), "layer_norm_epsilon");
  layer_norm(map, model.embedding_norm, "layer_norm_epsilon");
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    layer_norm(map, block.norm, "layer_norm_epsilon");
    map.kind<AlibiPositionConfig>(block.position);
    auto& heads = attention(map, stack, block, {.heads = "n_head", .key_heads = "", .width = ""});
    for (auto* bias : {&heads.query_bias, &heads.key_bias, &heads.value_bias, &heads.output_bias})
      map.implied(*bias, true);
    map.same("attention_dropout", heads.dropout, 0.0);
    map.same("hidden_dropout", block.dropout, 0.0);
    four_times(map, stack, block, Activation::kGeluTanh, true);
  });
  map.always("apply_residual_connection_post_layernorm", false);
  map.without_effect({"pretraining_tp", "slow_but_exact", "attention_softmax_in_fp32", "masked_softmax_fusion",
                      "bias_dropout_fusion", "offset_alibi", "skip_bias_add", "skip_bias_add_qkv", "unk_token_id"});
}

void no_bias_norm(ConfigMap& map, NormConfig& norm) {
  map.implied(layer_norm(map, norm, "layer_norm_epsilon").bias, false);
}

/// attn_config, a map of its own.
void mpt_attention(ConfigMap& map, SoftmaxAttentionConfig& heads) {
  const auto* given = map.reading() ? map.find("attn_config") : nullptr;
  ConfigMap inner = map.reading() ? ConfigMap(given == nullptr ? ConfigMap::Json::object() : *given) : ConfigMap();
  inner.always("alibi", true);
  inner.always("alibi_bias_max", 8);
  inner.always("attn_pdrop", 0);  // it would act on what the sublayers add, too
  inner.always("attn_type", "multihead_attention");
  inner.always("clip_qkv", nullptr);
  inner.always("prefix_lm", false);
  inner.always("qk_ln", false);
  if (!inner.reading()) {
    inner.put("softmax_scale") = *heads.scale;
  } else if (const auto* scale = inner.find("softmax_scale")) {
    heads.scale = ConfigMap::content<double>("softmax_scale", *scale);
  }
  inner.without_effect({"attn_impl", "attn_uses_sequence_id", "model_type", "_name_or_path", "transformers_version",
                        "architectures", "output_hidden_states", "output_attentions", "return_dict", "dtype",
                        "chunk_size_feed_forward", "is_encoder_decoder", "id2label", "label2id", "problem_type"});
  if (inner.reading()) {
    inner.refuse_unknown();
  } else {
    map.put("attn_config") = inner.json();
  }
}

void mpt(ConfigMap& map, Stack& stack) {
  sizes(map, stack, {.width = "d_model", .layers = "n_layers", .context = "max_seq_len", .tied = true});
  no_bias_norm(map, final_norm(stack));
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    no_bias_norm(map, block.norm);
    map.kind<AlibiPositionConfig>(block.position);
    mpt_attention(map, attention(map, stack, block, {.heads = "n_heads", .key_heads = "", .width = ""}));
    four_times(map, stack, block, Activation::kGelu, false);
  });
  map.always("expansion_ratio", 4);
  map.always("no_bias", true);
  map.always("logit_scale", nullptr);
  map.without_effect({"norm_type", "learned_pos_emb", "resid_pdrop", "emb_pdrop", "init_device", "init_config",
                      "embedding_fraction", "verbose", "tokenizer_name"});
}

WeightNames bloom_names(const Stack&) {
  const std::string theirs = "transformer.h.#.", ours = "blocks.#.";
  return WeightNames{{"transformer.word_embeddings.weight", {"embedding.weight"}}} +
         norm_names("transformer.word_embeddings_layernorm", "embedding_norm") +
         norm_names(theirs + "input_layernorm", ours + "attention_norm") +
         norm_names(theirs + "post_attention_layernorm", ours + "ffn_norm") +
         fused_attention(theirs + "self_attention.query_key_value", Layout::kByKeyHead, Layout::kByKeyHead) +
         matrix(theirs + "self_attention.dense", ours + "attention.output") +
         matrix(theirs + "mlp.dense_h_to_4h", ours + "ffn.up") +
         matrix(theirs + "mlp.dense_4h_to_h", ours + "ffn.down") + norm_names("transformer.ln_f", "final_norm");
}

WeightNames mpt_names(const Stack&) {
  const std::string theirs = "transformer.blocks.#.", ours = "blocks.#.";
  return WeightNames{{"transformer.wte.weight", {"embedding.weight"}}} +
         norm_names(theirs + "norm_1", ours + "attention_norm") + norm_names(theirs + "norm_2", ours + "ffn_norm") +
         fused_attention(theirs + "attn.Wqkv", Layout::kRows, Layout::kRows) +
         matrix(theirs + "attn.out_proj", ours + "attention.output") + matrix(theirs + "ffn.up_proj", ours + "ffn.up") +
         matrix(theirs + "ffn.down_proj", ours + "ffn.down") + norm_names("transformer.norm_f", "final_norm");
}

}  // namespace

const HubClass& bloom_class() {
  static const HubClass description{.name = "BloomForCausalLM",
                                    .model_type = "bloom",
                                    .config = bloom,
                                    .weights = bloom_names,
                                    .prefix = "transformer."};
  return description;
}

const HubClass& mpt_class() {
  static const HubClass description{
      .name = "MptForCausalLM", .model_type = "mpt", .config = mpt, .weights = mpt_names, .prefix = "transformer."};
  return description;
}

}  // namespace blockzoo
