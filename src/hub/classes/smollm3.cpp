#include <algorithm>

#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// Whether layer `index` has rotary positions: entries 1 and 0 of no_rope_layers.
void rotates(ConfigMap& map, size_t index, size_t layers, int64_t interval, bool& on) {
  constexpr auto key = "no_rope_layers";
  if (!map.reading()) {
    auto& list = map.put(key);
    if (index == 0) list = ConfigMap::Json::array();
    list.push_back(on ? 1 : 0);
    return;
  }
  const auto* list = map.find(key);
  if (list != nullptr && (!list->is_array() || list->size() != layers))
    throw CannotHold(key, "must be a list with an entry for each of the " + std::to_string(layers) + " layers");
  on = list == nullptr ? (static_cast<int64_t>(index) + 1) % interval != 0
                       : ConfigMap::content<int64_t>(key, (*list)[index]) != 0;
}

void smollm3_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack, {.tied = true});
  rms_norm(map, final_norm(stack));
  const auto slides = [](const BlockConfig& block) {
    return std::visit([](const auto& attention) { return attention.window > 0; }, block.attention);
  };
  bool any = std::any_of(stack.layers.begin(), stack.layers.end(), slides);
  map.same("use_sliding_window", any, false);
  int64_t interval = 4;
  if (map.reading()) map.same("no_rope_layer_interval", interval, interval);
  if (interval < 1) throw CannotHold("no_rope_layer_interval", "must be above 0");
  each_layer(stack, [&](BlockConfig& block, size_t layer) {
    map.kind<PreNormConfig>(block.layout);
    rms_norm(map, block.norm);
    auto& heads = attention(map, stack, block);
    four_biases(map, heads);
    map.same("attention_dropout", heads.dropout, 0.0);
    bool turns = std::holds_alternative<RopePositionConfig>(block.position);
    rotates(map, layer, stack.layers.size(), interval, turns);
    sliding_window(map, stack, heads, layer, any && !turns);
    if (map.reading() && heads.window > 0 && !any)
      throw CannotHold("layer_types", "has sliding layers, and use_sliding_window is false");
    if (turns) {
      rotary(map, stack, block, {.theta = 2e6});
    } else {
      map.kind<NoPositionConfig>(block.position);
    }
    map.same("mlp_bias", glu(map, block).bias, false);
  });
  map.without_effect({"max_window_layers", "rope_parameters", "rope_theta", "rope_scaling", "pretraining_tp"});
}

}  // namespace

const HubClass& smollm3_class() {
  static const HubClass description{
      .name = "SmolLM3ForCausalLM", .model_type = "smollm3", .config = smollm3_config, .weights = [](const Stack&) {
        return llama_names(pre_norm_names());
      }};
  return description;
}

}  // namespace blockzoo
