#include "kernels/rows/attention_pairs.h"

#include <algorithm>

#include "kernels/rows/instructions.h"
#include "kernels/rows/targets.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (BLOCKZOO_UNUSED_TARGETS | HWY_AVX2)  // AVX3 is the first to be compiled
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/attention_pairs.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3
#include "kernels/rows/avx3_bf16-inl.h"
// These come behind it.
#include "kernels/rows/attention_tile-inl.h"
#include "kernels/rows/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

void keys_across_pairs(const AttentionShape& shape, const Bf16* k, size_t first, size_t last, Bf16Pair* to) {
  for (size_t task = first; task < last; ++task) {
    const auto first_key = task % shape.key_tiles() * kTile, of = task / shape.key_tiles();
    const HeadRows<const Bf16> keys(k, shape.keys, shape.key_heads, shape.width, of / shape.key_heads,
                                    of % shape.key_heads);
    turn_pairs(keys.row(first_key), keys.stride, std::min(kTile, shape.keys - first_key), shape.width, kTile,
               to + task * shape.width / 2 * kTile);
  }
}

/// scale q k^T, capped, biased and masked. `slopes` as finish_scores() has it.
HWY_INLINE void take_scores(const TileView& tile, StridedOf<Bf16Pair> queries, const Bf16Pair* keys_across,
                            float* scores, float* slopes) {
  const auto& shape = tile.shape;
  product(tile.query_count, queries, {keys_across, kTile}, {scores, kTile}, false,
          in_pairs(keys_of_queries(tile, shape.depth())));
  for (size_t r = 0; r < tile.query_count; ++r) {
    const SeenVectors seen(tile, r);
    scale_row(scores + r * kTile + seen.first, seen.last - seen.first, shape.scale);
  }
  finish_scores(tile, scores, slopes);
}

template <class T>
using Buffer = hwy::AlignedFreeUniquePtr<T[]>;

void attend_pairs(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs, const Bf16Pair* keys_across,
                  size_t first, size_t last, Bf16* y, float* log_z) {
  const auto width = shape.width, value_width = shape.value_width;
  const auto scores = hwy::AllocateAligned<float>(kTile * kTile),
             sums = hwy::AllocateAligned<float>(kTile * value_width);
  const auto weights = hwy::AllocateAligned<Bf16Pair>(kTile * kTile / 2),
             values = hwy::AllocateAligned<Bf16Pair>(kTile / 2 * value_width),
             queries = hwy::AllocateAligned<Bf16Pair>(kTile / 2 * width);
  RunningSoftmax softmax;
  for (size_t task = first; task < last; ++task) {
    auto tile = query_tile_of(shape, task);
    const auto q = query_rows(tile, inputs.q, width);
    const auto v = key_rows(tile, inputs.v, value_width);
    const Bf16Pair* across =
        keys_across + (tile.batch * shape.key_heads + tile.group()) * shape.key_tiles() * kTile * width / 2;
    gather_rows(q.row(tile.first_query), q.stride, tile.query_count, width, queries.get());
    std::fill_n(sums.get(), kTile * value_width, 0.0F);
    softmax.start();
    const auto range = key_range(shape, tile.first_query, tile.query_count);
    for (size_t key_tile = range.first; key_tile < range.last; ++key_tile) {
      tile.take_keys(key_tile);
      take_scores(tile, {queries.get(), width / 2, 1}, across + key_tile * width / 2 * kTile, scores.get(), nullptr);
      weigh(tile, scores.get(), softmax);
      shrink_and_drop(tile, softmax, scores.get(), sums.get());
      round_rows(scores.get(), tile.query_count, kTile, weights.get());
      pair_rows(v.row(tile.first_key), v.stride, tile.key_count, value_width, values.get());
      product(tile.query_count, StridedOf<Bf16Pair>{weights.get(), kTile / 2, 1}, {values.get(), value_width},
              {sums.get(), value_width}, true, in_pairs(sums_over_keys(tile, value_width)));
    }
    put_results(tile, softmax, sums.get(), y, log_z);
  }
}

/// What attend_backward() keeps of one tile.
struct BackwardBuffers {
  static constexpr size_t kSquare = kTile * kTile;

  explicit BackwardBuffers(const AttentionShape& shape)
      : keys(halves(shape.width)),
        keys_across(halves(shape.width)),
        values_across(halves(shape.value_width)),
        queries(halves(shape.width)),
        dys(halves(shape.value_width)),
        weight_pairs(halves(kTile)),
        gradient_rows(halves(kTile)),
        gradient_pairs(halves(kTile)),
        dkeys(floats(kTile * shape.width)),
        dvalues(floats(kTile * shape.value_width)),
        dqueries(floats(shape.queries * shape.width)),
        means(floats(shape.queries)),
        weights(floats(kSquare)),
        gradients(floats(kSquare)),
        slopes(shape.softcap > 0 ? floats(kSquare) : nullptr) {}

  static Buffer<Bf16Pair> halves(size_t width) { return hwy::AllocateAligned<Bf16Pair>(kTile / 2 * width); }
  static Buffer<float> floats(size_t count) { return hwy::AllocateAligned<float>(count); }

  Buffer<Bf16Pair> keys, keys_across, values_across;             // of the key tile
  Buffer<Bf16Pair> queries, dys;                                 // of the query tile
  Buffer<Bf16Pair> weight_pairs, gradient_rows, gradient_pairs;  // of both
  Buffer<float> dkeys, dvalues, dqueries, means;
  Buffer<float> weights, gradients, slopes;
};

template <class D>
void attend_backward_pairs(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs,
                           const AttentionGradients<Bf16, D>& gradients, size_t first, size_t last) {
  const auto width = shape.width, value_width = shape.value_width;
  const BackwardBuffers own(shape);
  for (size_t task = first; task < last; ++task) {
    auto tile = head_of(shape, task);
    const auto q = query_rows(tile, inputs.q, width), y = query_rows(tile, gradients.y, value_width),
               dy = query_rows(tile, gradients.dy, value_width);
    const auto k = key_rows(tile, inputs.k, width), v = key_rows(tile, inputs.v, value_width);
    const auto dk = own_key_rows(tile, gradients.dk, width), dv = own_key_rows(tile, gradients.dv, value_width);
    const auto dbias = bias_gradient(tile, gradients);
    take_means(y, dy, shape.queries, own.means.get());
    std::fill_n(own.dqueries.get(), shape.queries * width, 0.0F);
    for (size_t key_tile = 0; key_tile < shape.key_tiles(); ++key_tile) {
      tile.take_keys(key_tile);
      const auto *key_row = k.row(tile.first_key), *value_row = v.row(tile.first_key);
      pair_rows(key_row, k.stride, tile.key_count, width, own.keys.get());
      turn_pairs(key_row, k.stride, tile.key_count, width, kTile, own.keys_across.get());
      turn_pairs(value_row, v.stride, tile.key_count, value_width, kTile, own.values_across.get());
      std::fill_n(own.dkeys.get(), kTile * width, 0.0F);
      std::fill_n(own.dvalues.get(), kTile * value_width, 0.0F);
      const auto range = query_range(shape, key_tile);
      for (size_t query_tile = range.first; query_tile < range.last; ++query_tile) {
        tile.take_queries(query_tile);
        const auto* dy_row = dy.row(tile.first_query);
        take_scores(tile, pairs_of(q.row(tile.first_query), q.stride), own.keys_across.get(), own.weights.get(),
                    own.slopes.get());
        product(tile.query_count, pairs_of(dy_row, dy.stride), {own.values_across.get(), kTile},
                {own.gradients.get(), kTile}, false, in_pairs(keys_of_queries(tile, shape.value_depth())));
        take_score_gradients(tile, gradients.log_z + task * shape.queries, own.means.get() + tile.first_query,
                             own.weights.get(), own.gradients.get(), own.slopes.get(), dbias);
        pair_rows(q.row(tile.first_query), q.stride, tile.query_count, width, own.queries.get());
        pair_rows(dy_row, dy.stride, tile.query_count, value_width, own.dys.get());
        round_paired_rows(own.weights.get(), tile.query_count, kTile, own.weight_pairs.get());
        round_paired_rows(own.gradients.get(), tile.query_count, kTile, own.gradient_pairs.get());
        round_rows(own.gradients.get(), tile.query_count, kTile, own.gradient_rows.get());
        product(tile.key_count, StridedOf<Bf16Pair>{own.weight_pairs.get(), 1, kTile}, {own.dys.get(), value_width},
                {own.dvalues.get(), value_width}, true, in_pairs(sums_over_queries(tile, value_width)));
        product(tile.key_count, StridedOf<Bf16Pair>{own.gradient_pairs.get(), 1, kTile}, {own.queries.get(), width},
                {own.dkeys.get(), width}, true, in_pairs(sums_over_queries(tile, width)));
        product(tile.query_count, StridedOf<Bf16Pair>{own.gradient_rows.get(), kTile / 2, 1}, {own.keys.get(), width},
                {own.dqueries.get() + tile.first_query * width, width}, true, in_pairs(sums_over_keys(tile, width)));
      }
      dk.put(own.dkeys.get(), tile.first_key, tile.key_count, shape.scale);
      dv.put(own.dvalues.get(), tile.first_key, tile.key_count, 1);
    }
    query_rows(tile, gradients.dq, width).put(own.dqueries.get(), 0, shape.queries, shape.scale);
  }
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace blockzoo::rows {

const AttentionInPairs* attention_in_pairs() {
#if HWY_TARGETS & HWY_AVX3
  static constexpr AttentionInPairs kernels{N_AVX3_BF16::keys_across_pairs, N_AVX3_BF16::attend_pairs,
                                            N_AVX3_BF16::attend_backward_pairs<float>,
                                            N_AVX3_BF16::attend_backward_pairs<Bf16>};
  if (multiplies_pairs()) return &kernels;
#endif
  return nullptr;
}

}  // namespace blockzoo::rows
#endif
