#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// Layer norm whose weight is stored as g - 1.
void nemotron_norm(ConfigMap& map, NormConfig& norm) {
  map.implied(layer_norm(map, norm, "norm_eps").unit_offset, true);
}

void nemotron_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  nemotron_norm(map, final_norm(stack));
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    nemotron_norm(map, block.norm);
    auto& heads = attention(map, stack, block);
    four_biases(map, heads);
    map.same("attention_dropout", heads.dropout, 0.0);
    rotary(map, stack, block, {.fraction = 0.5, .partial = true});
    map.same("mlp_bias", mlp(map, block, Activation::kReluSquared).bias, false);
  });
}

}  // namespace

const HubClass& nemotron_class() {
  static const HubClass description{
      .name = "NemotronForCausalLM", .model_type = "nemotron", .config = nemotron_config, .weights = [](const Stack&) {
        return llama_names(pre_norm_names());
      }};
  return description;
}

}  // namespace blockzoo
