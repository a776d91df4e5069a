#include "blockzoo/nn/norm/rms_norm.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/parameter.h"

namespace blockzoo {

RmsNormImpl::RmsNormImpl(const RmsNormConfig& config, at::IntArrayRef shape) : config_(config) {
  if (config.gain) gain_ = register_parameter("gain", born(shape, config.unit_offset ? 0 : 1));
}

Tensor RmsNormImpl::forward(const Tensor& x) {
  const auto wide = widened(x);
  auto y = wide * at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + config_.eps);
  if (gain_.defined()) {
    TORCH_CHECK(x.size(-1) == gain_.size(-1), "[rms_norm] last dim of x must be ", gain_.size(-1), ", got x ",
                x.sizes());
    y = y * (config_.unit_offset ? gain_ + 1 : gain_);
  }
  return y.to(x.scalar_type());
}

}  // namespace blockzoo
