#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <string_view>

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Normalises over the last dimension. Learned gains have the shape that the constructor is given: {D} for a stream,
/// {H, K} when every head has its own.
class NormImpl : public torch::nn::Module {
 public:
  virtual Tensor forward(const Tensor& x) = 0;
};
TORCH_MODULE(Norm);

}  // namespace blockzoo
