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

Tensor SinusoidalPositionImpl::embed(const Tensor& x, const Places& places) const {
  return x + rows_at(places, x.size(1), table_, "sinusoidal").to(x.scalar_type());
}

}  // namespace blockzoo
