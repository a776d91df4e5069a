#include "kernels/rows/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "blockzoo/core/hash.h"
#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/functions-inl.h"
#include "kernels/rows/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

constexpr float kUnseen = -1e30F;  // a score that leaves no weight beside any other

/// One query tile against one key tile of one head.
struct TileView {
  const AttentionShape& shape;
  size_t batch, head;
  size_t first_query, query_count;
  size_t first_key, key_count;

  size_t before() const { return shape.keys - shape.queries; }
  /// Position of the tile's query r.
  size_t position(size_t r) const { return before() + first_query + r; }
  /// Columns of the tile that query r sees: from first to last, last excluded.
  size_t seen_from(size_t r) const {
    if (shape.window == 0 || position(r) + 1 <= shape.window) return 0;
    const auto lowest = position(r) + 1 - shape.window;
    return lowest <= first_key ? 0 : std::min(lowest - first_key, kTile);
  }
  size_t seen_to(size_t r) const {
    return position(r) < first_key ? 0 : std::min(position(r) + 1 - first_key, key_count);
  }
};

/// Key tiles that the queries from `first` on, `count` of them, may look at.
struct TileRange {
  size_t first, last;
};

HWY_INLINE TileRange key_range(const AttentionShape& shape, size_t first, size_t count) {
  const auto lowest = shape.keys - shape.queries + first, highest = lowest + count - 1;
  const auto from = shape.window == 0 || lowest + 1 <= shape.window ? 0 : lowest + 1 - shape.window;
  return {from / kTile, highest / kTile + 1};
}

/// Query tiles that may look at a key tile.
HWY_INLINE TileRange query_range(const AttentionShape& shape, size_t key_tile) {
  const auto before = shape.keys - shape.queries;
  const auto first_key = key_tile * kTile, last_key = std::min(first_key + kTile, shape.keys) - 1;
  if (last_key < before && shape.window != 0 && last_key + shape.window <= before) return {0, 0};
  const auto first = first_key <= before ? 0 : first_key - before;
  const auto past = shape.window == 0 ? shape.queries : std::min(shape.queries, last_key + shape.window - before);
  return {first / kTile, (past + kTile - 1) / kTile};
}

/// scale * q, tile rows side by side.
HWY_INLINE void take_queries(const TileView& tile, const float* q, float* rows) {
  const auto& shape = tile.shape;
  const auto factor = all(shape.scale);
  for (size_t r = 0; r < tile.query_count; ++r) {
    const auto at = ((tile.batch * shape.queries + tile.first_query + r) * shape.heads + tile.head) * shape.width;
    for (size_t i = 0; i < shape.width; i += lanes())
      store_whole(hn::Mul(factor, load_whole(q + at + i)), rows + r * shape.width + i);
  }
}

/// Scores of a tile from scaled queries: cap, bias, and kUnseen where a query does not see a key. `slopes`, null or a
/// tile, takes the derivative of the cap.
HWY_INLINE void take_scores(const TileView& tile, const float* queries, const float* keys_across, float* scores,
                            float* slopes) {
  const auto& shape = tile.shape;
  product(tile.query_count, kTile, shape.width, {queries, shape.width, 1}, {keys_across, kTile}, {scores, kTile},
          false);
  if (shape.softcap > 0) {
    const auto cap = all(shape.softcap), twice_inverse = all(2 / shape.softcap), one = all(1);
    for (size_t i = 0; i < tile.query_count * kTile; i += lanes()) {
      const auto s = sigmoid_of(hn::Mul(load_whole(scores + i), twice_inverse));
      const auto tanh = hn::Sub(hn::Add(s, s), one);
      store_whole(hn::Mul(cap, tanh), scores + i);
      if (slopes != nullptr) store_whole(hn::NegMulAdd(tanh, tanh, one), slopes + i);
    }
  }
  if (shape.bias != nullptr) {
    const float* own = shape.bias + static_cast<ptrdiff_t>(tile.batch) * shape.bias_batch +
                       static_cast<ptrdiff_t>(tile.head) * shape.bias_head;
    for (size_t r = 0; r < tile.query_count; ++r) {
      const float* row = own + static_cast<ptrdiff_t>(tile.first_query + r) * shape.bias_query + tile.first_key;
      float* to = scores + r * kTile;
      walk(tile.key_count, [&](size_t i, size_t count)
                               HWY_ATTR { store(hn::Add(load(to + i, count), load(row + i, count)), to + i, count); });
    }
  }
  for (size_t r = 0; r < tile.query_count; ++r) {
    float* row = scores + r * kTile;
    std::fill(row, row + tile.seen_from(r), kUnseen);
    std::fill(row + tile.seen_to(r), row + kTile, kUnseen);
  }
}

/// Parts of the inputs that one head of one sequence reads.
struct HeadInputs {
  Dense<const float> k, v;
  const float* keys_across;
  const float* values_across;

  HeadInputs(const AttentionShape& shape, const AttentionInputs& inputs, size_t batch, size_t head) {
    const auto group = head * shape.key_heads / shape.heads;
    const auto tiles = (batch * shape.key_heads + group) * shape.key_tiles() * kTile;
    k = {inputs.k + (batch * shape.keys * shape.key_heads + group) * shape.width, shape.key_heads * shape.width};
    v = {inputs.v + (batch * shape.keys * shape.key_heads + group) * shape.value_width,
         shape.key_heads * shape.value_width};
    keys_across = inputs.keys_across + tiles * shape.width;
    values_across = inputs.values_across == nullptr ? nullptr : inputs.values_across + tiles * shape.value_width;
  }
};

/// Whole vectors of a tile's row that hold keys which query r sees.
struct SeenVectors {
  size_t first, last;

  SeenVectors(const TileView& tile, size_t r)
      : first(tile.seen_from(r) / lanes() * lanes()),
        last(std::max(first, (tile.seen_to(r) + lanes() - 1) / lanes() * lanes())) {}

  void clear_others(float* row) const {
    std::fill(row, row + first, 0.0F);
    std::fill(row + last, row + kTile, 0.0F);
  }
};

/// One row of a tile's scores becomes exp(score - the largest so far); returns exp(largest before - largest now).
HWY_INLINE float weigh(SeenVectors seen, float* scores, float& most, float& total) {
  seen.clear_others(scores);
  auto top = all(most);
  for (size_t i = seen.first; i < seen.last; i += lanes()) top = hn::Max(top, load_whole(scores + i));
  const float now = hn::GetLane(hn::MaxOfLanes(Floats(), top));
  const auto shift = all(now);
  auto sum = hn::Zero(Floats());
  for (size_t i = seen.first; i < seen.last; i += lanes()) {
    const auto weight = exp_of(hn::Sub(load_whole(scores + i), shift));
    sum = hn::Add(sum, weight);
    store_whole(weight, scores + i);
  }
  const float shrink = now == most ? 1 : std::exp(most - now);
  total = total * shrink + sum_of(sum);
  most = now;
  return shrink;
}

HWY_INLINE void scale_row(float* row, size_t width, float factor) {
  const auto f = all(factor);
  for (size_t i = 0; i < width; i += lanes()) store_whole(hn::Mul(f, load_whole(row + i)), row + i);
}

/// Two words for a query's row, all that its keys' fates depend on beside their places.
struct RowSeed {
  uint32_t first, second;

  RowSeed(const TileView& tile, size_t r) {
    const auto& shape = tile.shape;
    const auto row = (tile.batch * shape.heads + tile.head) * shape.queries + tile.first_query + r;
    const auto bits = mix(shape.seed + row);
    first = static_cast<uint32_t>(bits);
    second = static_cast<uint32_t>(bits >> 32);
  }
};

/// 1 / (1 - dropout) or zero, for the keys from `key` on.
HWY_INLINE Vector kept(const AttentionShape& shape, RowSeed seed, size_t key) {
  const Words words;
  const auto stir = [=](hn::Vec<Words> x) HWY_ATTR {  // the finalizer of MurmurHash3
    x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(words, 0x85ebca6b));
    x = hn::Mul(hn::Xor(x, hn::ShiftRight<13>(x)), hn::Set(words, 0xc2b2ae35));
    return hn::Xor(x, hn::ShiftRight<16>(x));
  };
  const auto places = hn::Iota(words, static_cast<uint32_t>(key));
  const auto bits = stir(hn::Add(stir(hn::Xor(places, hn::Set(words, seed.first))), hn::Set(words, seed.second)));
  const hn::RebindToSigned<Floats> integers;
  const auto share = hn::Mul(hn::ConvertTo(Floats(), hn::BitCast(integers, hn::ShiftRight<8>(bits))), all(0x1p-24F));
  return hn::IfThenElseZero(hn::Ge(share, all(shape.dropout)), all(1 / (1 - shape.dropout)));
}

HWY_INLINE void drop(const TileView& tile, size_t r, float* weights) {
  const RowSeed seed(tile, r);
  for (size_t i = 0; i < kTile; i += lanes())
    store_whole(hn::Mul(load_whole(weights + i), kept(tile.shape, seed, tile.first_key + i)), weights + i);
}

void attend_f32(const AttentionShape& shape, const AttentionInputs& inputs, size_t first, size_t last, float* y,
                float* log_z) {
  std::vector<float> queries(kTile * shape.width), scores(kTile * kTile), sums(kTile * shape.value_width);
  float most[kTile], totals[kTile];
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
    const HeadInputs head(shape, inputs, tile.batch, tile.head);
    take_queries(tile, inputs.q, queries.data());
    std::fill(sums.begin(), sums.end(), 0.0F);
    std::fill(most, most + kTile, kUnseen);
    std::fill(totals, totals + kTile, 0.0F);
    const auto range = key_range(shape, first_query, tile.query_count);
    for (size_t key_tile = range.first; key_tile < range.last; ++key_tile) {
      tile.first_key = key_tile * kTile;
      tile.key_count = std::min(kTile, shape.keys - tile.first_key);
      take_scores(tile, queries.data(), head.keys_across + key_tile * shape.width * kTile, scores.data(), nullptr);
      for (size_t r = 0; r < tile.query_count; ++r) {
        const float shrink = weigh(SeenVectors(tile, r), scores.data() + r * kTile, most[r], totals[r]);
        if (shape.dropout > 0) drop(tile, r, scores.data() + r * kTile);
        if (shrink != 1) scale_row(sums.data() + r * shape.value_width, shape.value_width, shrink);
      }
      product(tile.query_count, shape.value_width, tile.key_count, {scores.data(), kTile, 1},
              {head.v.from + tile.first_key * head.v.row, head.v.row}, {sums.data(), shape.value_width}, true);
    }
    for (size_t r = 0; r < tile.query_count; ++r) {
      const auto query = first_query + r;
      float* to = y + ((tile.batch * shape.queries + query) * shape.heads + tile.head) * shape.value_width;
      std::copy_n(sums.data() + r * shape.value_width, shape.value_width, to);
      scale_row(to, shape.value_width, 1 / totals[r]);
      log_z[row * shape.queries + query] = most[r] + std::log(totals[r]);
    }
  }
}

/// Weights of a tile from its scores, and the gradients of the scores before the cap from those of the weights. Adds
/// those after the cap to the head's `dbias`, where it is not null.
HWY_INLINE void take_score_gradients(const TileView& tile, const float* log_z, const float* along, float* weights,
                                     float* gradients, const float* slopes, float* dbias) {
  for (size_t r = 0; r < tile.query_count; ++r) {
    const auto shift = all(log_z[tile.first_query + r]), mean = all(along[r]);
    const RowSeed seed(tile, r);
    const SeenVectors seen(tile, r);
    seen.clear_others(weights + r * kTile);
    seen.clear_others(gradients + r * kTile);
    const auto bias_row = static_cast<ptrdiff_t>(tile.first_query + r) * tile.shape.bias_query +
                          static_cast<ptrdiff_t>(tile.first_key) - static_cast<ptrdiff_t>(r * kTile);
    for (size_t i = r * kTile + seen.first; i < r * kTile + seen.last; i += lanes()) {
      const auto weight = exp_of(hn::Sub(load_whole(weights + i), shift));
      const bool drops = tile.shape.dropout > 0;
      const auto keep = drops ? kept(tile.shape, seed, tile.first_key + i - r * kTile) : all(1);
      auto gradient = hn::Mul(weight, hn::Sub(hn::Mul(keep, load_whole(gradients + i)), mean));
      if (dbias != nullptr) {
        float* to = dbias + bias_row + static_cast<ptrdiff_t>(i);
        store_whole(hn::Add(load_whole(to), gradient), to);
      }
      if (slopes != nullptr) gradient = hn::Mul(gradient, load_whole(slopes + i));
      store_whole(hn::Mul(keep, weight), weights + i);
      store_whole(gradient, gradients + i);
    }
  }
}

void attend_backward_f32(const AttentionShape& shape, const AttentionInputs& inputs,
                         const AttentionGradients& gradients, size_t first, size_t last) {
  const bool capped = shape.softcap > 0;
  std::vector<float> queries(kTile * shape.width), weights(kTile * kTile), slopes(capped ? kTile * kTile : 0),
      score_gradients(kTile * kTile), along(shape.queries);
  const auto width = shape.width, value_width = shape.value_width, stride = shape.heads * value_width;
  for (size_t task = first; task < last; ++task) {
    TileView tile{.shape = shape,
                  .batch = task / shape.heads,
                  .head = task % shape.heads,
                  .first_query = 0,
                  .query_count = 0,
                  .first_key = 0,
                  .key_count = 0};
    const HeadInputs head(shape, inputs, tile.batch, tile.head);
    const auto own = (tile.batch * shape.queries * shape.heads + tile.head) * value_width;
    float* dbias = gradients.dbias == nullptr
                       ? nullptr
                       : gradients.dbias + static_cast<ptrdiff_t>(tile.batch) * gradients.dbias_batch +
                             static_cast<ptrdiff_t>(tile.head) * shape.bias_head;
    for (size_t t = 0; t < shape.queries; ++t) {
      auto sum = hn::Zero(Floats());
      const auto at = own + t * stride;
      for (size_t i = at; i < at + value_width; i += lanes())
        sum = hn::MulAdd(load_whole(gradients.y + i), load_whole(gradients.dy + i), sum);
      along[t] = sum_of(sum);
    }
    for (size_t key_tile = 0; key_tile < shape.key_tiles(); ++key_tile) {
      tile.first_key = key_tile * kTile;
      tile.key_count = std::min(kTile, shape.keys - tile.first_key);
      const auto at_key = (tile.batch * shape.keys + tile.first_key) * shape.heads + tile.head;
      const Dense<float> dk{gradients.dk + at_key * width, shape.heads * width},
          dv{gradients.dv + at_key * value_width, shape.heads * value_width};
      for (size_t j = 0; j < tile.key_count; ++j) {
        std::fill_n(dk.from + j * dk.row, width, 0.0F);
        std::fill_n(dv.from + j * dv.row, value_width, 0.0F);
      }
      const auto range = query_range(shape, key_tile);
      for (size_t query_tile = range.first; query_tile < range.last; ++query_tile) {
        tile.first_query = query_tile * kTile;
        tile.query_count = std::min(kTile, shape.queries - tile.first_query);
        take_queries(tile, inputs.q, queries.data());
        take_scores(tile, queries.data(), head.keys_across + key_tile * width * kTile, weights.data(),
                    capped ? slopes.data() : nullptr);
        const float* dy = gradients.dy + own + tile.first_query * stride;
        product(tile.query_count, kTile, value_width, {dy, stride, 1},
                {head.values_across + key_tile * value_width * kTile, kTile}, {score_gradients.data(), kTile}, false);
        take_score_gradients(tile, gradients.log_z + task * shape.queries, along.data() + tile.first_query,
                             weights.data(), score_gradients.data(), capped ? slopes.data() : nullptr, dbias);
        product(tile.key_count, value_width, tile.query_count, {weights.data(), 1, kTile}, {dy, stride}, dv, true);
        product(tile.key_count, width, tile.query_count, {score_gradients.data(), 1, kTile}, {queries.data(), width},
                dk, true);
        float* dq = gradients.dq + ((tile.batch * shape.queries + tile.first_query) * shape.heads + tile.head) * width;
        product(tile.query_count, width, tile.key_count, {score_gradients.data(), kTile, 1},
                {head.k.from + tile.first_key * head.k.row, head.k.row}, {dq, shape.heads * width}, true);
      }
    }
    for (size_t t = 0; t < shape.queries; ++t)
      scale_row(gradients.dq + ((tile.batch * shape.queries + t) * shape.heads + tile.head) * width, width,
                shape.scale);
  }
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(attend_f32);
HWY_EXPORT(attend_backward_f32);

void attend(const AttentionShape& shape, const AttentionInputs& inputs, size_t first, size_t last, float* y,
            float* log_z) {
  HWY_DYNAMIC_DISPATCH(attend_f32)(shape, inputs, first, last, y, log_z);
}

void attend_backward(const AttentionShape& shape, const AttentionInputs& inputs, const AttentionGradients& gradients,
                     size_t first, size_t last) {
  HWY_DYNAMIC_DISPATCH(attend_backward_f32)(shape, inputs, gradients, first, last);
}

}  // namespace blockzoo::rows
#endif
