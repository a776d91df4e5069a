#include "blockzoo/nn/position/relative_bias.h"

#include <ATen/ATen.h>

#include <cmath>

namespace blockzoo {
namespace {

/// Bucket of each distance 0..context-1.
Tensor distance_buckets(const RelativeBiasPositionConfig& config, int64_t context) {
  const int64_t exact = config.buckets / 2;
  const double reach = std::log(static_cast<double>(config.max_distance) / static_cast<double>(exact));
  std::vector<int64_t> buckets;
  for (int64_t distance = 0; distance < context; ++distance) {
    if (distance < exact) {
      buckets.push_back(distance);
      continue;
    }
    const double share = std::log(static_cast<double>(distance) / static_cast<double>(exact)) / reach;
    const auto bucket = exact + static_cast<int64_t>(share * static_cast<double>(config.buckets - exact) + 1e-9);
    buckets.push_back(std::min(bucket, config.buckets - 1));
  }
  return at::tensor(buckets, at::kLong);
}

}  // namespace

RelativeBiasPositionImpl::RelativeBiasPositionImpl(const RelativeBiasPositionConfig& config, const PositionDims& dims)
    : table_(register_module("table", Embedding(config.buckets, dims.heads))),
      bucket_(register_buffer("bucket", distance_buckets(config, dims.context))) {}

Tensor RelativeBiasPositionImpl::bias(int64_t first, int64_t queries, int64_t keys) const {
  TORCH_CHECK(std::max(first + queries, keys) <= bucket_.size(0), "[relative_bias] positions up to ",
              std::max(first + queries, keys), " are asked for, but there are ", bucket_.size(0));
  const auto i = at::arange(first, first + queries, bucket_.options()).unsqueeze(1);
  const auto j = at::arange(keys, bucket_.options());
  const auto distance = (i - j).clamp_min(0);  // keys after the query are masked
  return at::embedding(table_->weight, bucket_.index({distance})).permute({2, 0, 1});  // [H, T, S]
}

}  // namespace blockzoo
