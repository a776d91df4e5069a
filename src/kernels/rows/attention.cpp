#include "kernels/rows/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// One head's rows of a tensor [B, length, heads, width] in memory.
template <class T>
struct HeadRows {
  T* from;
  size_t stride, width;

  HeadRows(T* tensor, size_t length, size_t heads, size_t width_, size_t batch, size_t head)
      : from(tensor + (batch * length * heads + head) * width_), stride(heads * width_), width(width_) {}
  T* row(size_t t) const { return from + t * stride; }

  void take(size_t first, size_t count, float factor, float* rows) const {
    take_rows(row(first), stride, count, width, factor, rows);
  }
  void put(const float* rows, size_t first, size_t count, float factor) const {
    put_rows(rows, count, width, factor, row(first), stride);
  }
};

template <class T>
void keys_across_tasks(const AttentionShape& shape, const T* k, size_t first, size_t last, float* to) {
  std::vector<float> rows(kTile * shape.width);
  for (size_t task = first; task < last; ++task) {
    const auto first_key = task % shape.key_tiles() * kTile, of = task / shape.key_tiles();
    const auto count = std::min(kTile, shape.keys - first_key);
    const HeadRows<const T> keys(k, shape.keys, shape.key_heads, shape.width, of / shape.key_heads,
                                 of % shape.key_heads);
    keys.take(first_key, count, 1, rows.data());
    turn_rows(rows.data(), count, shape.width, to + task * shape.width * kTile);
  }
}

template <class T>
void attend_tasks(const AttentionShape& shape, const AttentionInputs<T>& inputs, const float* keys_across, size_t first,
                  size_t last, T* y, float* log_z) {
  const auto width = shape.width, value_width = shape.value_width;
  std::vector<float> queries(kTile * width), values(kTile * value_width), scores(kTile * kTile),
      sums(kTile * value_width);
  RunningSoftmax softmax;
  for (size_t task = first; task < last; ++task) {
    const auto query_tile = task % shape.query_tiles(), row = task / shape.query_tiles();
    const auto first_query = query_tile * kTile;
    TileView tile{.shape = shape,
                  .batch = row / shape.heads,
                  .head = row % shape.heads,
                  .first_query = first_query,
                  .query_count = std::min(kTile, shape.queries - first_query),
                  .first_key = 0,
                  .key_count = 0};
    const auto group = tile.head * shape.key_heads / shape.heads;
    const HeadRows<const T> q(inputs.q, shape.queries, shape.heads, width, tile.batch, tile.head);
    const HeadRows<const T> v(inputs.v, shape.keys, shape.key_heads, value_width, tile.batch, group);
    const float* across = keys_across + (tile.batch * shape.key_heads + group) * shape.key_tiles() * kTile * width;
    q.take(first_query, tile.query_count, shape.scale, queries.data());
    std::fill(sums.begin(), sums.end(), 0.0F);
    softmax.start();
    const auto range = key_range(shape, first_query, tile.query_count);
    for (size_t key_tile = range.first; key_tile < range.last; ++key_tile) {
      tile.first_key = key_tile * kTile;
      tile.key_count = std::min(kTile, shape.keys - tile.first_key);
      take_scores(tile, queries.data(), across + key_tile * width * kTile, scores.data(), nullptr);
      weigh(tile, scores.data(), softmax);
      for (size_t r = 0; r < tile.query_count; ++r) {
        if (shape.dropout > 0) drop(tile, r, scores.data() + r * kTile);
        if (softmax.shrink[r] != 1) scale_row(sums.data() + r * value_width, value_width, softmax.shrink[r]);
      }
      v.take(tile.first_key, tile.key_count, 1, values.data());
      product(tile.query_count, {scores.data(), kTile, 1}, {values.data(), value_width}, {sums.data(), value_width},
              true, sums_over_keys(tile, value_width));
    }
    const HeadRows<T> result(y, shape.queries, shape.heads, value_width, tile.batch, tile.head);
    for (size_t r = 0; r < tile.query_count; ++r) {
      result.put(sums.data() + r * value_width, first_query + r, 1, 1 / softmax.totals[r]);
      log_z[row * shape.queries + first_query + r] = softmax.most[r] + std::log(softmax.totals[r]);
    }
  }
}

/// y . dy of each query: the mean of the weights' gradients by the weights.
template <class T>
HWY_INLINE void take_means(const HeadRows<const T>& y, const HeadRows<const T>& dy, size_t queries, float* means) {
  for (size_t t = 0; t < queries; ++t) {
    auto sum = hn::Zero(Floats());
    for (size_t i = 0; i < y.width; i += lanes())
      sum = hn::MulAdd(load_whole(y.row(t) + i), load_whole(dy.row(t) + i), sum);
    means[t] = sum_of(sum);
  }
}

template <class T>
void attend_backward_tasks(const AttentionShape& shape, const AttentionInputs<T>& inputs,
                           const AttentionGradients<T>& gradients, size_t first, size_t last) {
  const bool capped = shape.softcap > 0;
  const auto width = shape.width, value_width = shape.value_width;
  std::vector<float> keys(kTile * width), keys_across(keys.size()), dkeys(keys.size());
  std::vector<float> values(kTile * value_width), values_across(values.size()), dvalues(values.size());
  std::vector<float> queries(keys.size()), dys(values.size()), dqueries(shape.queries * width), means(shape.queries);
  std::vector<float> weights(kTile * kTile), slopes(capped ? kTile * kTile : 0), score_gradients(kTile * kTile);
  for (size_t task = first; task < last; ++task) {
    TileView tile{.shape = shape,
                  .batch = task / shape.heads,
                  .head = task % shape.heads,
                  .first_query = 0,
                  .query_count = 0,
                  .first_key = 0,
                  .key_count = 0};
    const auto group = tile.head * shape.key_heads / shape.heads;
    const auto of_queries = [&](auto* x, size_t own_width) {
      return HeadRows(x, shape.queries, shape.heads, own_width, tile.batch, tile.head);
    };
    const auto of_keys = [&](auto* x, size_t heads, size_t own_width, size_t head) {
      return HeadRows(x, shape.keys, heads, own_width, tile.batch, head);
    };
    const auto q = of_queries(inputs.q, width), y = of_queries(gradients.y, value_width),
               dy = of_queries(gradients.dy, value_width);
    const auto k = of_keys(inputs.k, shape.key_heads, width, group),
               v = of_keys(inputs.v, shape.key_heads, value_width, group);
    const auto dk = of_keys(gradients.dk, shape.heads, width, tile.head),
               dv = of_keys(gradients.dv, shape.heads, value_width, tile.head);
    float* dbias = gradients.dbias == nullptr
                       ? nullptr
                       : gradients.dbias + static_cast<ptrdiff_t>(tile.batch) * gradients.dbias_batch +
                             static_cast<ptrdiff_t>(tile.head) * shape.bias_head;
    take_means(y, dy, shape.queries, means.data());
    std::fill(dqueries.begin(), dqueries.end(), 0.0F);
    for (size_t key_tile = 0; key_tile < shape.key_tiles(); ++key_tile) {
      tile.first_key = key_tile * kTile;
      tile.key_count = std::min(kTile, shape.keys - tile.first_key);
      k.take(tile.first_key, tile.key_count, 1, keys.data());
      v.take(tile.first_key, tile.key_count, 1, values.data());
      turn_rows(keys.data(), tile.key_count, width, keys_across.data());
      turn_rows(values.data(), tile.key_count, value_width, values_across.data());
      std::fill(dkeys.begin(), dkeys.end(), 0.0F);
      std::fill(dvalues.begin(), dvalues.end(), 0.0F);
      const auto range = query_range(shape, key_tile);
      for (size_t query_tile = range.first; query_tile < range.last; ++query_tile) {
        tile.first_query = query_tile * kTile;
        tile.query_count = std::min(kTile, shape.queries - tile.first_query);
        q.take(tile.first_query, tile.query_count, shape.scale, queries.data());
        dy.take(tile.first_query, tile.query_count, 1, dys.data());
        take_scores(tile, queries.data(), keys_across.data(), weights.data(), capped ? slopes.data() : nullptr);
        product(tile.query_count, {dys.data(), value_width, 1}, {values_across.data(), kTile},
                {score_gradients.data(), kTile}, false, keys_of_queries(tile, value_width));
        take_score_gradients(tile, gradients.log_z + task * shape.queries, means.data() + tile.first_query,
                             weights.data(), score_gradients.data(), capped ? slopes.data() : nullptr, dbias);
        product(tile.key_count, {weights.data(), 1, kTile}, {dys.data(), value_width}, {dvalues.data(), value_width},
                true, sums_over_queries(tile, value_width));
        product(tile.key_count, {score_gradients.data(), 1, kTile}, {queries.data(), width}, {dkeys.data(), width},
                true, sums_over_queries(tile, width));
        product(tile.query_count, {score_gradients.data(), kTile, 1}, {keys.data(), width},
                {dqueries.data() + tile.first_query * width, width}, true, sums_over_keys(tile, width));
      }
      dk.put(dkeys.data(), tile.first_key, tile.key_count, 1);
      dv.put(dvalues.data(), tile.first_key, tile.key_count, 1);
    }
    of_queries(gradients.dq, width).put(dqueries.data(), 0, shape.queries, shape.scale);
  }
}

void keys_across_f32(const AttentionShape& shape, const float* k, size_t first, size_t last, float* to) {
  keys_across_tasks(shape, k, first, last, to);
}
void keys_across_bf16(const AttentionShape& shape, const Bf16* k, size_t first, size_t last, float* to) {
  keys_across_tasks(shape, k, first, last, to);
}
void attend_f32(const AttentionShape& shape, const AttentionInputs<float>& inputs, const float* keys_across,
                size_t first, size_t last, float* y, float* log_z) {
  attend_tasks(shape, inputs, keys_across, first, last, y, log_z);
}
void attend_bf16(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs, const float* keys_across,
                 size_t first, size_t last, Bf16* y, float* log_z) {
  attend_tasks(shape, inputs, keys_across, first, last, y, log_z);
}
void attend_backward_f32(const AttentionShape& shape, const AttentionInputs<float>& inputs,
                         const AttentionGradients<float>& gradients, size_t first, size_t last) {
  attend_backward_tasks(shape, inputs, gradients, first, last);
}
void attend_backward_bf16(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs,
                          const AttentionGradients<Bf16>& gradients, size_t first, size_t last) {
  attend_backward_tasks(shape, inputs, gradients, first, last);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(keys_across_f32);
HWY_EXPORT(keys_across_bf16);
HWY_EXPORT(attend_f32);
HWY_EXPORT(attend_bf16);
HWY_EXPORT(attend_backward_f32);
HWY_EXPORT(attend_backward_bf16);

void take_keys_across(const AttentionShape& shape, const float* k, size_t first, size_t last, float* to) {
  HWY_DYNAMIC_DISPATCH(keys_across_f32)(shape, k, first, last, to);
}

void take_keys_across(const AttentionShape& shape, const Bf16* k, size_t first, size_t last, float* to) {
  HWY_DYNAMIC_DISPATCH(keys_across_bf16)(shape, k, first, last, to);
}

void attend(const AttentionShape& shape, const AttentionInputs<float>& inputs, const float* keys_across, size_t first,
            size_t last, float* y, float* log_z) {
  HWY_DYNAMIC_DISPATCH(attend_f32)(shape, inputs, keys_across, first, last, y, log_z);
}

void attend(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs, const float* keys_across, size_t first,
            size_t last, Bf16* y, float* log_z) {
  HWY_DYNAMIC_DISPATCH(attend_bf16)(shape, inputs, keys_across, first, last, y, log_z);
}

void attend_backward(const AttentionShape& shape, const AttentionInputs<float>& inputs,
                     const AttentionGradients<float>& gradients, size_t first, size_t last) {
  HWY_DYNAMIC_DISPATCH(attend_backward_f32)(shape, inputs, gradients, first, last);
}

void attend_backward(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs,
                     const AttentionGradients<Bf16>& gradients, size_t first, size_t last) {
  HWY_DYNAMIC_DISPATCH(attend_backward_bf16)(shape, inputs, gradients, first, last);
}

}  // namespace blockzoo::rows
#endif
