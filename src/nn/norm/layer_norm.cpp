#include "blockzoo/nn/norm/layer_norm.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/parameter.h"

namespace blockzoo {

LayerNormImpl::LayerNormImpl(const LayerNormConfig& config, at::IntArrayRef shape)
    : config_(config), width_(shape.back()) {
  if (config.gain) gain_ = register_parameter("gain", born(shape, config.unit_offset ? 0 : 1));
  if (config.bias) bias_ = register_parameter("bias", born(shape, 0));
}

Tensor LayerNormImpl::forward(const Tensor& x) {
  TORCH_CHECK(x.size(-1) == width_, "[layer_norm] last dim of x must be ", width_, ", got x ", x.sizes());
  const auto wide = widened(x);
  auto gain = gain_.defined() ? gain_.to(wide.scalar_type()) : gain_;
  if (gain.defined() && config_.unit_offset) gain = gain + 1;
  const auto bias = bias_.defined() ? bias_.to(wide.scalar_type()) : bias_;
  const bool one_gain = (!gain.defined() || gain.dim() == 1) && (!bias.defined() || bias.dim() == 1);
  if (one_gain) return at::layer_norm(wide, {width_}, gain, bias, config_.eps).to(x.scalar_type());
  auto y = at::layer_norm(wide, {width_}, {}, {}, config_.eps);
  if (gain.defined()) y = y * gain;
  if (bias.defined()) y = y + bias;
  return y.to(x.scalar_type());
}

}  // namespace blockzoo
