#include "blockzoo/nn/norm/dynamic_tanh.h"

#include <ATen/ATen.h>

#include "blockzoo/kernels/dynamic_tanh.h"
#include "blockzoo/nn/parameter.h"

namespace blockzoo {

DynamicTanhImpl::DynamicTanhImpl(const DynamicTanhConfig& config, at::IntArrayRef shape) : width_(shape.back()) {
  auto one_each = shape.vec();
  one_each.back() = 1;
  alpha_ = register_parameter("alpha", born(one_each, config.alpha));
  gain_ = register_parameter("gain", born(shape, 1));
  if (config.bias) bias_ = register_parameter("bias", born(shape, 0));
}

Tensor DynamicTanhImpl::forward(const Tensor& x) {
  TORCH_CHECK(x.size(-1) == width_, "[dynamic_tanh] last dim of x must be ", width_, ", got x ", x.sizes());
  return dynamic_tanh(x, alpha_, gain_, bias_);
}

}  // namespace blockzoo
