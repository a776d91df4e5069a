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
    auto tile = query_tile_of(shape, task);
    const auto q = query_rows(tile, inputs.q, width);
    const auto v = key_rows(tile, inputs.v, value_width);
    const float* across =
        keys_across + (tile.batch * shape.key_heads + tile.group()) * shape.key_tiles() * kTile * width;
    q.take(tile.first_query, tile.query_count, shape.scale, queries.data());
    std::fill(sums.begin(), sums.end(), 0.0F);
    softmax.start();
    const auto range = key_range(shape, tile.first_query, tile.query_count);
    for (size_t key_tile = range.first; key_tile < range.last; ++key_tile) {
      tile.take_keys(key_tile);
      product(tile.query_count, {queries.data(), width, 1}, {across + key_tile * width * kTile, kTile},
              {scores.data(), kTile}, false, keys_of_queries(tile, shape.depth()));
      finish_scores(tile, scores.data(), nullptr);
      weigh(tile, scores.data(), softmax);
      shrink_and_drop(tile, softmax, scores.data(), sums.data());
      v.take(tile.first_key, tile.key_count, 1, values.data());
      product(tile.query_count, {scores.data(), kTile, 1}, {values.data(), value_width}, {sums.data(), value_width},
              true, sums_over_keys(tile, value_width));
    }
    put_results(tile, softmax, sums.data(), y, log_z);
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
    auto tile = head_of(shape, task);
    const auto q = query_rows(tile, inputs.q, width), y = query_rows(tile, gradients.y, value_width),
               dy = query_rows(tile, gradients.dy, value_width);
    const auto k = key_rows(tile, inputs.k, width), v = key_rows(tile, inputs.v, value_width);
    const auto dk = own_key_rows(tile, gradients.dk, width), dv = own_key_rows(tile, gradients.dv, value_width);
    const auto dbias = bias_gradient(tile, gradients);
    take_means(y, dy, shape.queries, means.data());
    std::fill(dqueries.begin(), dqueries.end(), 0.0F);
    for (size_t key_tile = 0; key_tile < shape.key_tiles(); ++key_tile) {
      tile.take_keys(key_tile);
      k.take(tile.first_key, tile.key_count, 1, keys.data());
      v.take(tile.first_key, tile.key_count, 1, values.data());
      turn_rows(keys.data(), tile.key_count, width, keys_across.data());
      turn_rows(values.data(), tile.key_count, value_width, values_across.data());
      std::fill(dkeys.begin(), dkeys.end(), 0.0F);
      std::fill(dvalues.begin(), dvalues.end(), 0.0F);
      const auto range = query_range(shape, key_tile);
      for (size_t query_tile = range.first; query_tile < range.last; ++query_tile) {
        tile.take_queries(query_tile);
        q.take(tile.first_query, tile.query_count, shape.scale, queries.data());
        dy.take(tile.first_query, tile.query_count, 1, dys.data());
        product(tile.query_count, {queries.data(), width, 1}, {keys_across.data(), kTile}, {weights.data(), kTile},
                false, keys_of_queries(tile, shape.depth()));
        finish_scores(tile, weights.data(), capped ? slopes.data() : nullptr);
        product(tile.query_count, {dys.data(), value_width, 1}, {values_across.data(), kTile},
                {score_gradients.data(), kTile}, false, keys_of_queries(tile, shape.value_depth()));
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
    query_rows(tile, gradients.dq, width).put(dqueries.data(), 0, shape.queries, shape.scale);
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
