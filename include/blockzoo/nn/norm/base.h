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

  /// Gains and biases are float32 or wider, beside weights of half precision too: they are few, and statistics are
  /// wide.
  void to(at::Device device, at::ScalarType dtype, bool non_blocking = false) override;
  void to(at::ScalarType dtype, bool non_blocking = false) override;
  using torch::nn::Module::to;
};
TORCH_MODULE(Norm);

}  // namespace blockzoo
