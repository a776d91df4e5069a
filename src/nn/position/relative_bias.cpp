#include "blockzoo/nn/position/relative_bias.h"

#include <ATen/ATen.h>

#include <cmath>

#include "blockzoo/nn/parameter.h"

namespace blockzoo {
namespace {

/// Bucket of each distance 0..context-1. Where a logarithm should be a whole number, 1e-9 keeps it from falling short.
Tensor distance_buckets(const RelativeBiasPositionConfig& config, int64_t context) {
  const int64_t exact = config.buckets / 2;
  const double reach = std::log(static_cast<double>(config.max_distance) / static_cast<double>(exact));
  const auto distance = at::arange(context, at::TensorOptions().dtype(at::kDouble).device(birthplace()));
  const auto share = at::log(distance.clamp_min(exact) / exact) / reach;
  const auto shared = (exact + at::floor(share * (config.buckets - exact) + 1e-9)).clamp_max(config.buckets - 1);
  return at::cat({distance.slice(0, 0, exact), shared.slice(0, exact)}).to(at::kLong);
}

}  // namespace

RelativeBiasPositionImpl::RelativeBiasPositionImpl(const RelativeBiasPositionConfig& config, const PositionDims& dims)
    : table_(register_module("table", Embedding(config.buckets, dims.heads))),
      bucket_(register_buffer("bucket", distance_buckets(config, dims.context))) {}

Tensor RelativeBiasPositionImpl::distance_bias(int64_t distances) const {
  TORCH_CHECK(distances <= bucket_.size(0), "[relative_bias] positions up to ", distances,
              " are asked for, but there are ", bucket_.size(0));
  return at::embedding(table_->weight, bucket_.slice(0, 0, distances)).t();  // [H, S]
}

}  // namespace blockzoo
