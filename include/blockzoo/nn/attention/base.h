#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <string_view>

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/linear.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Causal self-attention. Shapes: x [B, T, D] -> y [B, T, D].
class AttentionImpl : public torch::nn::Module {
 public:
  virtual Tensor forward(const Tensor& x, const Context& context) = 0;
};
TORCH_MODULE(Attention);

}  // namespace blockzoo
