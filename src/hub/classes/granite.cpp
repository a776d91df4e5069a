#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// Llama with factors on embedding, scores, sublayers and logits; the logits are divided by theirs.
void granite_config(ConfigMap& map, Stack& stack) {
  auto& model = stack.model;
  sizes(map, stack);
  rms_norm(map, final_norm(stack));
  factor(map, model.embedding_scale, model.width, "embedding_multiplier", 1.0);
  ScaleConfig divisor = ConstantScale{.value = 1 / scale_factor(model.logit_scale, model.width)};
  factor(map, divisor, model.width, "logits_scaling", 1.0);
  if (map.reading()) {
    const auto value = scale_factor(divisor, model.width);
    model.logit_scale = value == 1 ? ScaleConfig(NoScale{}) : ScaleConfig(ConstantScale{.value = 1 / value});
  }
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    rms_norm(map, block.norm);
    auto& heads = attention(map, stack, block);
    four_biases(map, heads);
    map.same("attention_dropout", heads.dropout, 0.0);
    map.same("attention_multiplier", heads.scale, 1.0);
    map.same("residual_multiplier", block.residual_scale, 1.0);
    rotary(map, stack, block);
    map.same("mlp_bias", glu(map, block).bias, false);
  });
}

}  // namespace

const HubClass& granite_class() {
  static const HubClass description{
      .name = "GraniteForCausalLM", .model_type = "granite", .config = granite_config, .weights = [](const Stack&) {
        return llama_names(pre_norm_names());
      }};
  return description;
}

}  // namespace blockzoo
