#include "blockzoo/kernels/attention.h"

#include <ATen/ATen.h>

#include "blockzoo/kernels/attention_observer.h"
#include "kernels/attention_tiles.h"
#include "kernels/one_query.h"

namespace blockzoo {
namespace {

/// True where a query may see a key: 0 <= i - j < window for query position i and key j, and the key's token is there.
/// A query whose own token is absent sees itself alone, so that no row is empty. [T, S], or [B, 1, T, S] with absent
/// keys.
Tensor visible(int64_t queries, int64_t keys, const AttendOptions& options, const at::Device& device) {
  const auto everything = at::ones({queries, keys}, at::TensorOptions().dtype(at::kBool).device(device));
  const auto before = keys - queries;  // of the first query
  auto seen = everything.tril(before);
  if (options.window > 0) seen = seen.triu(before + 1 - options.window);
  if (!options.absent.defined()) return seen;
  const auto there = at::arange(keys, options.absent.options()).ge(options.absent.unsqueeze(1));  // [B, S]
  const auto itself = everything.tril(before).triu(before);
  return seen.logical_and(there.view({-1, 1, 1, keys})).logical_or(itself);
}

/// The same options with the biases of distances spread over queries and keys, [H, T, S].
AttendOptions with_spread_bias(const AttendOptions& options, int64_t queries, int64_t keys) {
  if (!options.distance_bias.defined()) return options;
  const auto whole = at::TensorOptions().dtype(at::kLong).device(options.distance_bias.device());
  const auto i = at::arange(keys - queries, keys, whole).unsqueeze(1), j = at::arange(keys, whole);
  const auto distance = (i - j).clamp_min(0).flatten();  // keys after the query are masked
  const auto spread = options.distance_bias.index_select(1, distance).unflatten(1, {queries, keys});
  auto result = options;
  result.distance_bias = Tensor();
  result.bias = options.bias.defined() ? options.bias + spread : spread;
  return result;
}

/// cap(scale q k^T) + bias, -infinity where `seen` says no; undefined, it says that every query sees every key.
/// q [B, H, T, K], k [B, G, S, K] -> [B, H, T, S].
Tensor attention_scores(const Tensor& q, const Tensor& k, const Tensor& seen, const AttendOptions& options) {
  const auto batch = q.size(0), heads = q.size(1), queries = q.size(2), groups = k.size(1), keys = k.size(2);
  const auto rows = q.reshape({batch, groups, heads / groups * queries, q.size(3)});  // of all that share a key head
  auto scores = at::matmul(rows * options.scale, k.transpose(-2, -1)).view({batch, heads, queries, keys});
  scores = scores.to(at::promote_types(scores.scalar_type(), at::kFloat));
  if (options.softcap > 0) scores = at::tanh(scores / options.softcap) * options.softcap;
  if (options.bias.defined()) scores = scores + options.bias;
  return seen.defined() ? scores.masked_fill(seen.logical_not(), -INFINITY) : scores;
}

/// dropout(weights) v: [B, H, T, S], v [B, G, S, W] -> [B, H, T, W].
Tensor mixed_values(Tensor weights, const Tensor& v, double dropout) {
  const auto batch = weights.size(0), heads = weights.size(1), queries = weights.size(2), keys = weights.size(3);
  const auto groups = v.size(1);
  if (dropout > 0) weights = at::dropout(weights, dropout, /*train=*/true);
  const auto rows = weights.to(v.scalar_type()).view({batch, groups, heads / groups * queries, keys});
  return at::matmul(rows, v).view({batch, heads, queries, v.size(3)});
}

/// The formula with the scores written out. q [B, H, T, K], k [B, G, S, K], v [B, G, S, W] -> [B, H, T, W].
Tensor attend_by_formula(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen,
                         const AttendOptions& options) {
  return mixed_values(at::softmax(attention_scores(q, k, seen, options), -1), v, options.dropout);
}

/// The same, one sequence after the other, each told to the observer.
Tensor attend_observed(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) {
  std::vector<Tensor> mixed;
  for (int64_t row = 0; row < q.size(0); ++row) {
    const auto one = [&](const Tensor& x) { return x.narrow(0, row, 1); };
    auto its = options;
    if (its.bias.defined() && its.bias.dim() == 4) its.bias = one(its.bias);
    if (its.absent.defined()) its.absent = one(its.absent);
    const auto scores = attention_scores(one(q), one(k), visible(q.size(2), k.size(2), its, q.device()), its);
    const auto weights = at::softmax(scores, -1);
    AttentionObserver::current()->attended({.layer = AttentionLayerScope::current(),
                                            .row = row,
                                            .scores = scores.detach().squeeze(0),
                                            .weights = weights.detach().squeeze(0)});
    mixed.push_back(mixed_values(weights, one(v), options.dropout));
  }
  return at::cat(mixed);
}

/// y [B, T, H, W] without what queries have that belong to no token.
Tensor of_tokens(const Tensor& y, int64_t keys, const AttendOptions& options) {
  if (!options.absent.defined()) return y;
  const auto places = at::arange(keys - y.size(1), keys, options.absent.options());
  return y.masked_fill(places.lt(options.absent.unsqueeze(1)).view({-1, y.size(1), 1, 1}), 0);
}

}  // namespace

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& given_options) {
  const bool ranks = q.dim() == 4 && k.dim() == 4 && v.dim() == 4;
  TORCH_CHECK(
      ranks && k.size(0) == q.size(0) && k.size(1) >= q.size(1) && k.size(3) == q.size(3) &&
          v.sizes().slice(0, 3) == k.sizes().slice(0, 3) && q.size(2) % k.size(2) == 0,
      "[attend] needs q [B, T, H, K], k [B, S, G, K], v [B, S, G, W] with S at least T and H a multiple of G, got ",
      q.sizes(), ", ", k.sizes(), ", ", v.sizes());
  const auto length = q.size(1), keys = k.size(1);
  const bool observed = AttentionObserver::current() != nullptr;
  if (!observed && tiles_fit(q, k, v, given_options)) return attend_in_tiles(q, k, v, given_options);
  if (!observed && one_query_fits(q, k, v, given_options)) return attend_one_query(q, k, v, given_options);
  const auto q_heads = q.transpose(1, 2), k_heads = k.transpose(1, 2), v_heads = v.transpose(1, 2);  // [B, heads, ...]
  const auto options = with_spread_bias(given_options, length, keys);
  if (observed) return of_tokens(attend_observed(q_heads, k_heads, v_heads, options).transpose(1, 2), keys, options);
  const bool everything_before = !options.absent.defined() && (options.window == 0 || options.window >= keys);
  const bool all_seen = everything_before && length == 1;
  const bool causal = everything_before && length == keys;
  const bool plain = options.softcap == 0 && !options.bias.defined() && options.dropout == 0;
  const auto mask = all_seen || (causal && plain) ? Tensor() : visible(length, keys, options, q.device());
  // One query is as fast by the formula, which reads each key head once for all query heads that share it.
  const auto y = !plain || length == 1
                     ? attend_by_formula(q_heads, k_heads, v_heads, mask, options)
                     : at::scaled_dot_product_attention(q_heads, k_heads, v_heads,
                                                        mask.defined() ? std::make_optional(mask) : std::nullopt,
                                                        /*dropout_p=*/0.0, /*is_causal=*/!mask.defined(), options.scale,
                                                        /*enable_gqa=*/q.size(2) != k.size(2));
  return of_tokens(y.transpose(1, 2), keys, options);
}

}  // namespace blockzoo
