#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void gpt_neox_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  layer_norm(map, final_norm(stack));
  // One rate for the embedding and for what the sublayers add.
  map.same("hidden_dropout", stack.model.embedding_dropout, 0.0);
  bool parallel = std::holds_alternative<ParallelTwoNormsConfig>(stack.layers.front().layout);
  map.same("use_parallel_residual", parallel, true);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    if (parallel) {
      map.kind<ParallelTwoNormsConfig>(block.layout);
    } else {
      map.kind<PreNormConfig>(block.layout);
    }
    layer_norm(map, block.norm);
    map.implied(block.dropout, stack.model.embedding_dropout);
    auto& heads = attention(map, stack, block, {.key_heads = "", .width = ""});
    map.all("attention_bias", {&heads.query_bias, &heads.key_bias, &heads.value_bias, &heads.output_bias}, true);
    map.same("attention_dropout", heads.dropout, 0.0);
    rotary(map, stack, block,
           {.fraction = 0.25, .partial = true, .theta_key = "rotary_emb_base", .fraction_key = "rotary_pct"});
    auto& ffn = map.kind<MlpConfig>(block.ffn);
    map.activation("hidden_act", ffn.activation, Activation::kGelu);
    map.same("intermediate_size", ffn.hidden);
    map.implied(ffn.bias, true);
  });
  map.without_effect({"rope_theta", "partial_rotary_factor", "classifier_dropout", "is_decoder"});
}

WeightNames gpt_neox_names() {
  const std::string theirs = "gpt_neox.layers.#.", ours = "blocks.#.";
  return WeightNames{{"gpt_neox.embed_in.weight", {"embedding.weight"}}} +
         fused_attention(theirs + "attention.query_key_value", Layout::kByKeyHead, Layout::kByKeyHead) +
         norm_names(theirs + "input_layernorm", ours + "attention_norm") +
         norm_names(theirs + "post_attention_layernorm", ours + "ffn_norm") +
         matrix(theirs + "attention.dense", ours + "attention.output") +
         matrix(theirs + "mlp.dense_h_to_4h", ours + "ffn.up") +
         matrix(theirs + "mlp.dense_4h_to_h", ours + "ffn.down") +
         norm_names("gpt_neox.final_layer_norm", "final_norm");
}

}  // namespace

const HubClass& gpt_neox_class() {
  static const HubClass description{.name = "GPTNeoXForCausalLM",
                                    .model_type = "gpt_neox",
                                    .config = gpt_neox_config,
                                    .weights = [](const Stack&) { return gpt_neox_names(); },
                                    .prefix = "gpt_neox.",
                                    .head = "embed_out.weight",
                                    .other_names = {{"lm_head.weight", "embed_out.weight"}},
                                    .buffers = {".attention.bias", ".attention.masked_bias", ".rotary_emb.inv_freq"}};
  return description;
}

}  // namespace blockzoo
