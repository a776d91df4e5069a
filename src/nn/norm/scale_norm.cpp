#include "blockzoo/nn/norm/scale_norm.h"

#include <ATen/ATen.h>

#include <cmath>

#include "blockzoo/nn/parameter.h"

namespace blockzoo {

ScaleNormImpl::ScaleNormImpl(const ScaleNormConfig& config, at::IntArrayRef shape)
    : eps_(config.eps), width_(shape.back()) {
  auto one_each = shape.vec();
  one_each.back() = 1;
  gain_ = register_parameter("gain", born(one_each, std::sqrt(static_cast<double>(width_))));
}

Tensor ScaleNormImpl::forward(const Tensor& x) {
  TORCH_CHECK(x.size(-1) == width_, "[scale_norm] last dim of x must be ", width_, ", got x ", x.sizes());
  const auto wide = widened(x);
  // The root is taken of a number that is never zero, so that a zero row has a gradient.
  const auto length = wide.square().sum(-1, /*keepdim=*/true).clamp_min(eps_ * eps_).sqrt();
  return (wide * (gain_ / length)).to(x.scalar_type());
}

}  // namespace blockzoo
