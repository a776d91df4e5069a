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

Tensor TransformerXlPositionImpl::relative_scores(const Tensor& q, int64_t keys, double factor) const {
  TORCH_CHECK(keys <= waves_.size(0), "[transformer_xl] positions up to ", keys, " are asked for, but there are ",
              waves_.size(0));
  const auto waves = waves_.slice(0, 0, keys).to(projection_->weight.scalar_type());
  const auto projected = linear_map(waves, projection_->weight).to(q.scalar_type());
  const auto r = projected.unflatten(-1, {heads_, q.size(-1)});                                     // [S, H, K]
  const auto asking = (with_bias(q, position_bias_) * factor).permute({2, 0, 1, 3}).flatten(1, 2);  // [H, B T, K]
  const auto by_distance = batched_matmul(asking, r.flip(0).permute({1, 2, 0}));                    // S-1, ..., 0
  // With a column in front, the numbers behind the first T are rows of S that begin at column T-1-t of query t: what
  // stands in column j then is that of distance S-T+t-j.
  const auto padded = at::constant_pad_nd(by_distance, {1, 0});                // [H, B T, S+1]
  const auto rows = padded.view({heads_, q.size(0), -1}).slice(2, q.size(1));  // [H, B, T S]
  return rows.unflatten(2, {q.size(1), keys}).transpose(0, 1);
}

}  // namespace blockzoo
