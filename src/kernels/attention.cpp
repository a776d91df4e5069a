#include "blockzoo/kernels/attention.h"

#include <ATen/ATen.h>

namespace blockzoo {
namespace {

/// True where query i may see key j: 0 <= i - j < window. [T, T]
Tensor visible(int64_t length, int64_t window, const at::Device& device) {
  const auto everything = at::ones({length, length}, at::TensorOptions().dtype(at::kBool).device(device));
  const auto causal = everything.tril();
  return window > 0 ? causal.triu(1 - window) : causal;
}

/// The formula with the scores written out. q [B, H, T, K], k [B, G, T, K], v [B, G, T, W] -> [B, H, T, W].
Tensor attend_by_formula(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) {
  const auto batch = q.size(0), heads = q.size(1), length = q.size(2), groups = k.size(1);
  const auto shared = heads / groups;  // query heads that read one key head
  const auto rows = q.reshape({batch, groups, shared * length, q.size(3)});
  auto scores = at::matmul(rows * options.scale, k.transpose(-2, -1)).view({batch, heads, length, length});
  scores = scores.to(at::promote_types(scores.scalar_type(), at::kFloat));
  if (options.softcap > 0) scores = at::tanh(scores / options.softcap) * options.softcap;
  if (options.bias.defined()) scores = scores + options.bias;
  scores = scores.masked_fill(visible(length, options.window, q.device()).logical_not(), -INFINITY);
  auto weights = at::softmax(scores, -1);
  if (options.dropout > 0) weights = at::dropout(weights, options.dropout, /*train=*/true);
  const auto mixed = at::matmul(weights.to(v.scalar_type()).view({batch, groups, shared * length, length}), v);
  return mixed.view({batch, heads, length, v.size(3)});
}

}  // namespace

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) {
  const bool ranks = q.dim() == 4 && k.dim() == 4 && v.dim() == 4;
  TORCH_CHECK(ranks && k.size(0) == q.size(0) && k.size(1) == q.size(1) && k.size(3) == q.size(3) &&
                  v.sizes().slice(0, 3) == k.sizes().slice(0, 3) && q.size(2) % k.size(2) == 0,
              "[attend] needs q [B, T, H, K], k [B, T, G, K], v [B, T, G, W] with H a multiple of G, got ", q.sizes(),
              ", ", k.sizes(), ", ", v.sizes());
  const auto queries = q.transpose(1, 2), keys = k.transpose(1, 2), values = v.transpose(1, 2);  // [B, heads, T, width]
  const bool windowed = options.window > 0 && options.window < q.size(1);
  const bool plain = options.softcap == 0 && !options.bias.defined() && options.dropout == 0;
  if (!plain) return attend_by_formula(queries, keys, values, options).transpose(1, 2);
  const auto mask = windowed ? std::make_optional(visible(q.size(1), options.window, q.device())) : std::nullopt;
  return at::scaled_dot_product_attention(queries, keys, values, mask, /*dropout_p=*/0.0, /*is_causal=*/!windowed,
                                          options.scale, /*enable_gqa=*/q.size(2) != k.size(2))
      .transpose(1, 2);
}

}  // namespace blockzoo
