#include <algorithm>

#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// The first layers see everything, those from max_window_layers on a window, when use_sliding_window is on.
void windows(ConfigMap& map, Stack& stack) {
  const auto slides = [&](const BlockConfig& block) {
    return std::visit([](const auto& attention) { return attention.window > 0; }, block.attention);
  };
  const auto& layers = stack.layers;
  bool any = std::any_of(layers.begin(), layers.end(), slides);
  map.same("use_sliding_window", any, false);
  const auto first = std::find_if(layers.begin(), layers.end(), slides) - layers.begin();
  auto full = map.reading() ? int64_t{28} : static_cast<int64_t>(first);
  if (any || !map.reading()) map.same("max_window_layers", full, int64_t{28});
  map.without_effect({"max_window_layers"});
  each_layer(stack, [&](BlockConfig& block, size_t layer) {
    auto& attention = std::get<SoftmaxAttentionConfig>(block.attention);
    sliding_window(map, stack, attention, layer, any && static_cast<int64_t>(layer) >= full);
    if (map.reading() && attention.window > 0 && !any)
      throw CannotHold("layer_types", "has sliding layers, and use_sliding_window is false");
  });
}

void qwen2(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  rms_norm(map, final_norm(stack));
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    rms_norm(map, block.norm);
    auto& heads = attention(map, stack, block);
    for (auto* bias : {&heads.query_bias, &heads.key_bias, &heads.value_bias}) map.implied(*bias, true);
    map.same("attention_dropout", heads.dropout, 0.0);
    rotary(map, stack, block);
    glu(map, block);
  });
  windows(map, stack);
}

void qwen3(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  rms_norm(map, final_norm(stack));
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    rms_norm(map, block.norm);
    auto& heads = attention(map, stack, block);
    four_biases(map, heads);
    rms_norm(map, map.kind<HeadQkNormConfig>(heads.qk_norm).norm);
    map.same("attention_dropout", heads.dropout, 0.0);
    rotary(map, stack, block);
    glu(map, block);
  });
  windows(map, stack);
}

}  // namespace

const HubClass& qwen2_class() {
  static const HubClass description{
      .name = "Qwen2ForCausalLM", .model_type = "qwen2", .config = qwen2, .weights = [](const Stack&) {
        return llama_names(pre_norm_names());
      }};
  return description;
}

const HubClass& qwen3_class() {
  static const HubClass description{
      .name = "Qwen3ForCausalLM", .model_type = "qwen3", .config = qwen3, .weights = [](const Stack&) {
        return llama_names(pre_norm_names()) +
               norm_names("model.layers.#.self_attn.q_norm", "blocks.#.attention.query_norm") +
               norm_names("model.layers.#.self_attn.k_norm", "blocks.#.attention.key_norm");
      }};
  return description;
}

}  // namespace blockzoo
