#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// What the two decoder architectures can be told by.
struct Shape {
  bool two_norms;  // parallel, each sublayer with its own
  bool parallel;
  bool grouped;  // neither one key head nor as many as heads
  bool multi_query;
};

Shape shape_of(const BlockConfig& block) {
  const auto* softmax = std::get_if<SoftmaxAttentionConfig>(&block.attention);
  const int64_t heads = softmax == nullptr ? 1 : softmax->heads, keys = softmax == nullptr ? 1 : softmax->key_heads();
  return {.two_norms = std::holds_alternative<ParallelTwoNormsConfig>(block.layout),
          .parallel = !std::holds_alternative<PreNormConfig>(block.layout),
          .grouped = keys != 1 && keys != heads,
          .multi_query = keys == 1};
}

void falcon_config(ConfigMap& map, Stack& stack) {
  map.also_called("hidden_size", "n_embed");
  map.also_called("num_hidden_layers", "n_layer");
  map.also_called("num_attention_heads", "n_head");
  map.also_called("num_kv_heads", "n_head_kv");
  sizes(map, stack, {.tied = true, .usual_context = 2048});
  layer_norm(map, final_norm(stack), "layer_norm_epsilon");
  auto shape = shape_of(stack.layers.front());
  bool newer = shape.two_norms || (shape.parallel && shape.grouped);
  map.same("new_decoder_architecture", newer, false);
  map.same("multi_query", shape.multi_query, true);
  map.same("parallel_attn", shape.parallel, true);
  int64_t norms = shape.two_norms ? 2 : 1;
  if (newer) map.same("num_ln_in_parallel_attn", norms, int64_t{2});
  map.without_effect({"num_ln_in_parallel_attn"});
  each_layer(stack, [&](BlockConfig& block, size_t) {
    if (newer && norms == 2) {
      map.kind<ParallelTwoNormsConfig>(block.layout);
    } else if (newer || shape.parallel) {
      map.kind<ParallelConfig>(block.layout);
    } else {
      map.kind<PreNormConfig>(block.layout);
    }
    layer_norm(map, block.norm, "layer_norm_epsilon");
    auto& heads = attention(map, stack, block, {.key_heads = newer ? "num_kv_heads" : "", .width = ""});
    if (!newer && shape.multi_query) map.implied(heads.kv_heads, 1);
    rotary(map, stack, block);
    auto& ffn = map.kind<MlpConfig>(block.ffn);
    map.activation("activation", ffn.activation, Activation::kGelu);
    map.same("ffn_hidden_size", ffn.hidden, 4 * stack.model.width);
    map.all("bias", {&heads.query_bias, &heads.key_bias, &heads.value_bias, &heads.output_bias, &ffn.bias}, false);
  });
  map.always("alibi", false);  // there slopes are divided by the square root of a head's width
  map.always("hidden_dropout", 0.0);
  map.always("attention_dropout", 0.0);
  map.without_effect({"num_kv_heads", "apply_residual_connection_post_layernorm"});
}

WeightNames falcon_names(const Stack& stack) {
  const std::string theirs = "transformer.h.#.", ours = "blocks.#.";
  const auto shape = shape_of(stack.layers.front());
  const auto norms = shape.two_norms ? norm_names(theirs + "ln_attn", ours + "attention_norm") +
                                           norm_names(theirs + "ln_mlp", ours + "ffn_norm")
                     : shape.parallel ? norm_names(theirs + "input_layernorm", ours + "norm")
                                      : norm_names(theirs + "input_layernorm", ours + "attention_norm") +
                                            norm_names(theirs + "post_attention_layernorm", ours + "ffn_norm");
  return WeightNames{{"transformer.word_embeddings.weight", {"embedding.weight"}}} + norms +
         fused_attention(theirs + "self_attention.query_key_value", Layout::kByKeyHead, Layout::kByKeyHead) +
         matrix(theirs + "self_attention.dense", ours + "attention.output") +
         matrix(theirs + "mlp.dense_h_to_4h", ours + "ffn.up") +
         matrix(theirs + "mlp.dense_4h_to_h", ours + "ffn.down") + norm_names("transformer.ln_f", "final_norm");
}

}  // namespace

const HubClass& falcon_class() {
  static const HubClass description{.name = "FalconForCausalLM",
                                    .model_type = "falcon",
                                    .config = falcon_config,
                                    .weights = falcon_names,
                                    .prefix = "transformer.",
                                    .buffers = {".rotary_emb.inv_freq"}};
  return description;
}

}  // namespace blockzoo
