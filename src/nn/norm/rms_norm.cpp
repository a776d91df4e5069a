#include "blockzoo/nn/norm/rms_norm.h"

#include <ATen/ATen.h>

#include "blockzoo/kernels/rms_norm.h"
#include "blockzoo/nn/parameter.h"

namespace blockzoo {

RmsNormImpl::RmsNormImpl(const RmsNormConfig& config, at::IntArrayRef shape) : config_(config) {
  if (config.gain) gain_ = register_parameter("gain", born(shape, config.unit_offset ? 0 : 1));
}

Tensor RmsNormImpl::forward(const Tensor& x) {
  if (!gain_.defined()) return rms_norm(x, {}, config_.eps);
  return rms_norm(x, config_.unit_offset ? gain_ + 1 : gain_, config_.eps);
}

}  // namespace blockzoo
