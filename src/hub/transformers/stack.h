#pragma once

#include <vector>

#include "blockzoo/core/tree.h"
#include "blockzoo/nn/model_config.h"

namespace blockzoo {

/// A model as config.json sees it: what it has once, and a block for each layer.
struct Stack {
  ModelConfig model;  // `block` and `overrides` say nothing here
  std::vector<BlockConfig> layers;
};

/// Every `auto` replaced. Errors: ConfigError when the config does not fit together.
Stack stack_of(const ModelConfig& config);

/// The first layer's block for all, and overrides where layers differ; checked as a file would be.
/// Errors: ConfigError with every problem.
ModelConfig model_of(const Stack& stack);

/// The fields in which two models compute or train differently: "block.ffn.activation", or "layers.3.attention.window"
/// where the layers of `before` differ. Start values do not count, nor how a factor is spelled.
std::vector<Difference> all_differences(const Stack& before, const Stack& after);

}  // namespace blockzoo
