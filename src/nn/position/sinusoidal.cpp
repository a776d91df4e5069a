#include "blockzoo/nn/position/sinusoidal.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/parameter.h"

namespace blockzoo {
namespace {

Tensor waves(const SinusoidalPositionConfig& config, const PositionDims& dims) {
  const auto wide = at::TensorOptions().dtype(at::kDouble).device(birthplace());
  const auto even = at::arange(0, dims.model, 2, wide);
  const auto angles = at::arange(dims.context, wide).unsqueeze(1) * at::pow(config.theta, -even / dims.model);
  const auto pairs = at::stack({angles.sin(), angles.cos()}, -1).flatten(1);
  return pairs.slice(1, 0, dims.model).to(at::kFloat);
}

}  // namespace

SinusoidalPositionImpl::SinusoidalPositionImpl(const SinusoidalPositionConfig& config, const PositionDims& dims)
    : table_(register_buffer("waves", waves(config, dims))) {}

Tensor SinusoidalPositionImpl::embed(const Tensor& x, int64_t first) const {
  TORCH_CHECK(first + x.size(1) <= table_.size(0), "[sinusoidal] positions up to ", first + x.size(1),
              " are asked for, but there are ", table_.size(0));
  return x + table_.slice(0, first, first + x.size(1)).to(x.scalar_type());
}

}  // namespace blockzoo
