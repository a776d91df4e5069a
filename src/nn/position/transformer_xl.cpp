#include "blockzoo/nn/position/transformer_xl.h"

#include <ATen/ATen.h>

#include "blockzoo/kernels/linear.h"
#include "blockzoo/nn/parameter.h"

namespace blockzoo {
namespace {

/// w of each distance 0..context-1: [context, D].
Tensor distance_waves(double theta, const PositionDims& dims) {
  const auto wide = at::TensorOptions().dtype(at::kDouble).device(birthplace());
  const auto even = at::arange(0, dims.model, 2, wide);
  const auto angles = at::arange(dims.context, wide).unsqueeze(1) * at::pow(theta, -even / dims.model);
  return at::cat({angles.sin(), angles.cos()}, 1).slice(1, 0, dims.model).to(at::kFloat);
}

/// Every head's queries and its own bias.
Tensor with_bias(const Tensor& q, const Embedding& bias) {
  return bias.is_empty() ? q : (q + bias->weight).to(q.scalar_type());
}

}  // namespace

TransformerXlPositionImpl::TransformerXlPositionImpl(const TransformerXlPositionConfig& config,
                                                     const PositionDims& dims)
    : heads_(dims.heads),
      projection_(
          register_module("projection", Linear(LinearConfig{.in = dims.model, .out = dims.heads * dims.rotary_width}))),
      waves_(register_buffer("waves", distance_waves(config.theta, dims))) {
  if (!config.biases) return;
  content_bias_ = register_module("content_bias", Embedding(dims.heads, dims.rotary_width));
  position_bias_ = register_module("position_bias", Embedding(dims.heads, dims.rotary_width));
}

Tensor TransformerXlPositionImpl::content_queries(const Tensor& q) const { return with_bias(q, content_bias_); }

Tensor TransformerXlPositionImpl::relative_scores(const Tensor& q, int64_t keys) const {
  TORCH_CHECK(keys <= waves_.size(0), "[transformer_xl] positions up to ", keys, " are asked for, but there are ",
              waves_.size(0));
  const auto waves = waves_.slice(0, 0, keys).to(projection_->weight.scalar_type());
  const auto projected = linear_map(waves, projection_->weight).to(q.scalar_type());
  const auto r = projected.unflatten(-1, {heads_, q.size(-1)});  // [S, H, K]
  const auto by_distance = at::matmul(with_bias(q, position_bias_).transpose(1, 2), r.permute({1, 2, 0}));
  const auto whole = at::TensorOptions().dtype(at::kLong).device(q.device());
  const auto i = at::arange(keys - q.size(1), keys, whole).unsqueeze(1), j = at::arange(keys, whole);
  const auto distance = (i - j).clamp_min(0);                                   // keys after the query are masked
  return by_distance.gather(-1, distance.expand({q.size(0), heads_, -1, -1}));  // [B, H, T, S]
}

}  // namespace blockzoo
