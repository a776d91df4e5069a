#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void phi_config(ConfigMap& map, Stack& stack) {
  auto& model = stack.model;
  sizes(map, stack);
  map.implied(model.head_bias, true);
  layer_norm(map, final_norm(stack));
  map.same("embd_pdrop", model.embedding_dropout, 0.0);
  const auto* softmax = std::get_if<SoftmaxAttentionConfig>(&stack.layers.front().attention);
  bool normed = softmax != nullptr && std::holds_alternative<HeadQkNormConfig>(softmax->qk_norm);
  map.same("qk_layernorm", normed, false);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<ParallelConfig>(block.layout);
    layer_norm(map, block.norm);
    auto& heads = attention(map, stack, block, {.width = ""});
    for (auto* bias : {&heads.query_bias, &heads.key_bias, &heads.value_bias, &heads.output_bias})
      map.implied(*bias, true);
    if (normed) layer_norm(map, map.kind<HeadQkNormConfig>(heads.qk_norm).norm);
    map.same("attention_dropout", heads.dropout, 0.0);
    map.same("resid_pdrop", block.dropout, 0.0);
    rotary(map, stack, block, {.fraction = 0.5, .partial = true});
    map.implied(mlp(map, block, Activation::kGeluTanh).bias, true);
  });
}

WeightNames phi_names(const Stack&) {
  const std::string theirs = "model.layers.#.", ours = "blocks.#.";
  return WeightNames{{"model.embed_tokens.weight", {"embedding.weight"}}, {"lm_head.bias", {"head_bias"}}} +
         norm_names(theirs + "input_layernorm", ours + "norm") +
         matrix(theirs + "self_attn.q_proj", ours + "attention.query") +
         matrix(theirs + "self_attn.k_proj", ours + "attention.key") +
         matrix(theirs + "self_attn.v_proj", ours + "attention.value") +
         matrix(theirs + "self_attn.dense", ours + "attention.output") +
         norm_names(theirs + "self_attn.q_layernorm", ours + "attention.query_norm") +
         norm_names(theirs + "self_attn.k_layernorm", ours + "attention.key_norm") +
         matrix(theirs + "mlp.fc1", ours + "ffn.up") + matrix(theirs + "mlp.fc2", ours + "ffn.down") +
         norm_names("model.final_layernorm", "final_norm");
}

}  // namespace

const HubClass& phi_class() {
  static const HubClass description{
      .name = "PhiForCausalLM", .model_type = "phi", .config = phi_config, .weights = phi_names};
  return description;
}

}  // namespace blockzoo
