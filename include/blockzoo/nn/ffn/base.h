#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <string_view>

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/ffn/activation.h"
#include "blockzoo/nn/ffn/hidden_width.h"
#include "blockzoo/nn/linear.h"

namespace blockzoo {

/// Feed-forward sublayer. Shapes: x [B, T, D] -> y [B, T, D].
class FfnImpl : public torch::nn::Module {
 public:
  virtual Tensor forward(const Tensor& x) = 0;
};
TORCH_MODULE(Ffn);

}  // namespace blockzoo
