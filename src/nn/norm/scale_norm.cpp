#include "blockzoo/nn/norm/scale_norm.h"

#include <ATen/ATen.h>

#include <cmath>

#include "blockzoo/kernels/scale_norm.h"
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
  return scale_norm(x, gain_, eps_);
}

}  // namespace blockzoo
