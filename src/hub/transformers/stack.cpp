#include "hub/transformers/stack.h"

#include <algorithm>

#include "core/reader.h"
#include "core/writer.h"

namespace blockzoo {
namespace {

/// The fields that a model has once, apart from its start values.
Tree whole_model(const Stack& stack) {
  auto model = stack.model;
  for (auto* scale : {&model.embedding_scale, &model.logit_scale})
    *scale = ConstantScale{.value = scale_factor(*scale, model.width)};
  auto tree = to_tree(model);
  std::erase_if(tree.entries, [](const auto& entry) {
    return entry.key == "block" || entry.key == "overrides" || entry.key == "init";
  });
  return tree;
}

bool all_equal(const std::vector<BlockConfig>& layers) {
  const auto first = to_tree(layers.front());
  return std::all_of(layers.begin(), layers.end(), [&](const auto& layer) { return to_tree(layer) == first; });
}

}  // namespace

Stack stack_of(const ModelConfig& config) {
  Stack stack{.model = resolved(config), .layers = {}};
  stack.layers = expand_layers(stack.model);
  return stack;
}

ModelConfig model_of(const Stack& stack) {
  auto model = stack.model;
  model.layers = static_cast<int64_t>(stack.layers.size());
  model.block = stack.layers.front();
  model.overrides.clear();
  const auto base = to_tree(model.block);
  for (size_t layer = 1; layer < stack.layers.size(); ++layer) {
    Tree patch = Tree::map();
    for (const auto& [key, value] : to_tree(stack.layers[layer]).entries) {
      if (!(value == *base.find(key))) patch[key] = value;
    }
    if (patch.entries.empty()) continue;
    Tree layers = Tree::list();
    layers.items.push_back(to_tree(static_cast<int64_t>(layer)));
    model.overrides.push_back({layers, patch});
  }
  return resolved(read_config<ModelConfig>(to_tree(model)));
}

std::vector<Difference> all_differences(const Stack& before, const Stack& after) {
  auto all = differences(whole_model(before), whole_model(after));
  if (before.layers.size() != after.layers.size()) return all;
  const bool uniform = all_equal(before.layers);
  for (size_t layer = 0; layer < before.layers.size(); ++layer) {
    for (auto& found : differences(to_tree(before.layers[layer]), to_tree(after.layers[layer]))) {
      found.path = (uniform ? "block." : "layers." + std::to_string(layer) + ".") + found.path;
      all.push_back(std::move(found));
    }
  }
  return all;
}

}  // namespace blockzoo
