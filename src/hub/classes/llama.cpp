#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void llama_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  rms_norm(map, final_norm(stack));
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    rms_norm(map, block.norm);
    auto& heads = attention(map, stack, block);
    require(map, stack.model.width % heads.heads == 0, "block.attention.heads", "must divide width there");
    four_biases(map, heads);
    map.same("attention_dropout", heads.dropout, 0.0);
    rotary(map, stack, block);
    map.same("mlp_bias", glu(map, block).bias, false);
  });
  map.without_effect({"pretraining_tp"});
}

}  // namespace

const HubClass& llama_class() {
  static const HubClass description{
      .name = "LlamaForCausalLM", .model_type = "llama", .config = llama_config, .weights = [](const Stack&) {
        return llama_names(pre_norm_names());
      }};
  return description;
}

}  // namespace blockzoo
