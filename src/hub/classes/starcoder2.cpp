#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void starcoder2_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack, {.tied = true});
  layer_norm(map, final_norm(stack), "norm_epsilon");
  map.same("embedding_dropout", stack.model.embedding_dropout, 0.0);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    layer_norm(map, block.norm, "norm_epsilon");
    auto& heads = attention(map, stack, block);
    map.off_or("sliding_window", heads.window);
    map.same("attention_dropout", heads.dropout, 0.0);
    map.same("residual_dropout", block.dropout, 0.0);
    rotary(map, stack, block);
    auto& ffn = mlp(map, block, Activation::kGeluTanh);
    map.all("use_bias", {&heads.query_bias, &heads.key_bias, &heads.value_bias, &heads.output_bias, &ffn.bias}, true);
  });
  map.without_effect({"mlp_type", "norm_type"});
}

WeightNames starcoder2_names(const Stack&) {
  const std::string theirs = "model.layers.#.", ours = "blocks.#.";
  return WeightNames{{"model.embed_tokens.weight", {"embedding.weight"}}} + pre_norm_names() +
         matrix(theirs + "self_attn.q_proj", ours + "attention.query") +
         matrix(theirs + "self_attn.k_proj", ours + "attention.key") +
         matrix(theirs + "self_attn.v_proj", ours + "attention.value") +
         matrix(theirs + "self_attn.o_proj", ours + "attention.output") + matrix(theirs + "mlp.c_fc", ours + "ffn.up") +
         matrix(theirs + "mlp.c_proj", ours + "ffn.down") + norm_names("model.norm", "final_norm");
}

}  // namespace

const HubClass& starcoder2_class() {
  static const HubClass description{.name = "Starcoder2ForCausalLM",
                                    .model_type = "starcoder2",
                                    .config = starcoder2_config,
                                    .weights = starcoder2_names};
  return description;
}

}  // namespace blockzoo
