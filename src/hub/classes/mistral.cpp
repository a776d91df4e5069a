#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// Llama without biases, with one window for every layer.
void mistral_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  rms_norm(map, final_norm(stack));
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    rms_norm(map, block.norm);
    auto& heads = attention(map, stack, block);
    map.off_or("sliding_window", heads.window);
    map.same("attention_dropout", heads.dropout, 0.0);
    rotary(map, stack, block);
    glu(map, block);
  });
}

}  // namespace

const HubClass& mistral_class() {
  static const HubClass description{
      .name = "MistralForCausalLM", .model_type = "mistral", .config = mistral_config, .weights = [](const Stack&) {
        return llama_names(pre_norm_names());
      }};
  return description;
}

}  // namespace blockzoo
