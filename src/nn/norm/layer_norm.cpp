#include "blockzoo/nn/norm/layer_norm.h"

#include <ATen/ATen.h>

#include "blockzoo/kernels/layer_norm.h"
#include "blockzoo/nn/parameter.h"

namespace blockzoo {

LayerNormImpl::LayerNormImpl(const LayerNormConfig& config, at::IntArrayRef shape)
    : config_(config), width_(shape.back()) {
  if (config.gain) gain_ = register_parameter("gain", born(shape, config.unit_offset ? 0 : 1));
  if (config.bias) bias_ = register_parameter("bias", born(shape, 0));
}

Tensor LayerNormImpl::forward(const Tensor& x) {
  TORCH_CHECK(x.size(-1) == width_, "[layer_norm] last dim of x must be ", width_, ", got x ", x.sizes());
  const auto gain = gain_.defined() && config_.unit_offset ? gain_ + 1 : gain_;
  return layer_norm(x, gain, bias_, config_.eps);
}

}  // namespace blockzoo
