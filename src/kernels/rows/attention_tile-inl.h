// One tile of attention: who sees whom, scores, weights and their gradients, once for every instruction set (Highway's
// pattern).
#if defined(BLOCKZOO_KERNELS_ROWS_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BLOCKZOO_KERNELS_ROWS_ATTENTION_TILE_INL_H_
#undef BLOCKZOO_KERNELS_ROWS_ATTENTION_TILE_INL_H_
#else
#define BLOCKZOO_KERNELS_ROWS_ATTENTION_TILE_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "blockzoo/core/hash.h"
#include "kernels/rows/attention.h"
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

  void take_queries(size_t query_tile) {
    first_query = query_tile * kTile;
    query_count = std::min(kTile, shape.queries - first_query);
  }
  void take_keys(size_t key_tile) {
    first_key = key_tile * kTile;
    key_count = std::min(kTile, shape.keys - first_key);
  }
  size_t group() const { return head * shape.key_heads / shape.heads; }  // the head's key head
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
  /// Queries of the tile that see key j or one of the `count` keys from it on: from first to last, last excluded.
  size_t seeing_from(size_t j) const {
    const auto lowest = first_key + j;
    return lowest <= position(0) ? 0 : std::min(lowest - position(0), query_count);
  }
  size_t seeing_to(size_t j, size_t count) const {
    if (shape.window == 0) return query_count;
    const auto past = first_key + j + count - 1 + shape.window;  // the first position that sees none of them
    return past <= position(0) ? 0 : std::min(past - position(0), query_count);
  }
};

/// The task of attend(), not yet at a key tile.
HWY_INLINE TileView query_tile_of(const AttentionShape& shape, size_t task) {
  const auto row = task / shape.query_tiles(), first = task % shape.query_tiles() * kTile;
  return {.shape = shape,
          .batch = row / shape.heads,
          .head = row % shape.heads,
          .first_query = first,
          .query_count = std::min(kTile, shape.queries - first),
          .first_key = 0,
          .key_count = 0};
}

/// The task of attend_backward(): a head, not yet at a tile.
HWY_INLINE TileView head_of(const AttentionShape& shape, size_t task) {
  return {.shape = shape,
          .batch = task / shape.heads,
          .head = task % shape.heads,
          .first_query = 0,
          .query_count = 0,
          .first_key = 0,
          .key_count = 0};
}

/// Where the head's gradient of the bias is, or null, and how far it is from one query to the next.
struct BiasGradient {
  float* from = nullptr;
  ptrdiff_t query = 0;
};

template <class Gradients>
HWY_INLINE BiasGradient bias_gradient(const TileView& tile, const Gradients& gradients) {
  if (gradients.dbias == nullptr) return {};
  return {gradients.dbias + static_cast<ptrdiff_t>(tile.batch) * gradients.dbias_batch +
              static_cast<ptrdiff_t>(tile.head) * gradients.dbias_head,
          gradients.dbias_query};
}

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

/// Whole vectors of a tile's row that hold keys which query r, or one of the `count` queries from it on, sees.
struct SeenVectors {
  size_t first, last;

  SeenVectors(const TileView& tile, size_t r, size_t count = 1)
      : first(tile.seen_from(r) / lanes() * lanes()),
        last(std::max(first, (tile.seen_to(r + count - 1) + lanes() - 1) / lanes() * lanes())) {}

  void clear_others(float* row) const {
    std::fill(row, row + first, 0.0F);
    std::fill(row + last, row + kTile, 0.0F);
  }
};

/// Parts of [queries, keys] = A [queries, depth] B, with the keys that one of some queries sees.
HWY_INLINE auto keys_of_queries(const TileView& tile, size_t depth) {
  return [&tile, depth](size_t r, size_t count) {
    const SeenVectors seen(tile, r, count);
    return Part{seen.first, seen.last, 0, depth};
  };
}

/// Parts of [queries, width] = A [queries, keys] B, where A is zero for keys that a query does not see.
HWY_INLINE auto sums_over_keys(const TileView& tile, size_t width) {
  return [&tile, width](size_t r, size_t count) {
    const auto first = tile.seen_from(r);
    return Part{0, width, first, std::max(first, tile.seen_to(r + count - 1))};
  };
}

/// Parts of [keys, width] = A [keys, queries] B, where A is zero for queries that do not see a key.
HWY_INLINE auto sums_over_queries(const TileView& tile, size_t width) {
  return [&tile, width](size_t j, size_t count) {
    const auto first = tile.seeing_from(j);
    return Part{0, width, first, std::max(first, tile.seeing_to(j, count))};
  };
}

/// factor * rows that are `stride` apart, side by side as float32.
template <class T>
HWY_INLINE void take_rows(const T* from, size_t stride, size_t count, size_t width, float factor, float* rows) {
  const auto f = all(factor);
  for (size_t r = 0; r < count; ++r) {
    for (size_t i = 0; i < width; i += lanes())
      store_whole(hn::Mul(f, load_whole(from + r * stride + i)), rows + r * width + i);
  }
}

/// factor * rows that lie side by side, to rows that are `stride` apart.
template <class T>
HWY_INLINE void put_rows(const float* rows, size_t count, size_t width, float factor, T* to, size_t stride) {
  const auto f = all(factor);
  for (size_t r = 0; r < count; ++r) {
    for (size_t i = 0; i < width; i += lanes())
      store_whole(hn::Mul(f, load_whole(rows + r * width + i)), to + r * stride + i);
  }
}

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

/// The rows of a head's queries, or of what is as long as they are; and of a key head's keys.
template <class T>
HWY_INLINE HeadRows<T> query_rows(const TileView& tile, T* tensor, size_t width) {
  return {tensor, tile.shape.queries, tile.shape.heads, width, tile.batch, tile.head};
}
template <class T>
HWY_INLINE HeadRows<T> key_rows(const TileView& tile, T* tensor, size_t width) {
  return {tensor, tile.shape.keys, tile.shape.key_heads, width, tile.batch, tile.group()};
}
/// The same where every query head has its own.
template <class T>
HWY_INLINE HeadRows<T> own_key_rows(const TileView& tile, T* tensor, size_t width) {
  return {tensor, tile.shape.keys, tile.shape.heads, width, tile.batch, tile.head};
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

/// The transpose [width, kTile] of up to kTile rows that lie side by side, filled up with zeros.
HWY_INLINE void turn_rows(const float* rows, size_t count, size_t width, float* across) {
  for (size_t i = 0; i < width; ++i) {
    float* to = across + i * kTile;
    for (size_t j = 0; j < count; ++j) to[j] = rows[j * width + i];
    std::fill(to + count, to + kTile, 0.0F);
  }
}

/// Cap, bias, and kUnseen where a query does not see a key, for scaled products of queries and keys. `slopes`, null or
/// a tile, takes the derivative of the cap.
HWY_INLINE void finish_scores(const TileView& tile, float* scores, float* slopes) {
  const auto& shape = tile.shape;
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

/// The largest scores that a tile's queries have met, and the sums of their weights so far.
struct RunningSoftmax {
  float most[kTile], totals[kTile], shrink[kTile];

  void start() {
    std::fill(most, most + kTile, kUnseen);
    std::fill(totals, totals + kTile, 0.0F);
  }
};

/// Scores of a tile become exp(score - the largest so far); `shrink` is then exp(largest before - largest now), which
/// what was summed before must be multiplied with.
HWY_INLINE void weigh(const TileView& tile, float* scores, RunningSoftmax& softmax) {
  float now[kTile];
  std::copy(softmax.most, softmax.most + kTile, now);
  for (size_t r = 0; r < tile.query_count; ++r) {
    const SeenVectors seen(tile, r);
    auto top = all(now[r]);
    for (size_t i = seen.first; i < seen.last; i += lanes()) top = hn::Max(top, load_whole(scores + r * kTile + i));
    now[r] = hn::GetLane(hn::MaxOfLanes(Floats(), top));
  }
  for (size_t r = 0; r < kTile; r += lanes())
    store_whole(exp_of_negative(hn::Sub(load_whole(softmax.most + r), load_whole(now + r))), softmax.shrink + r);
  for (size_t r = 0; r < tile.query_count; ++r) {
    const SeenVectors seen(tile, r);
    float* row = scores + r * kTile;
    seen.clear_others(row);
    const auto shift = all(now[r]);
    auto sum = hn::Zero(Floats());
    for (size_t i = seen.first; i < seen.last; i += lanes()) {
      const auto weight = exp_of_negative(hn::Sub(load_whole(row + i), shift));
      sum = hn::Add(sum, weight);
      store_whole(weight, row + i);
    }
    softmax.totals[r] = softmax.totals[r] * softmax.shrink[r] + sum_of(sum);
  }
  std::copy(now, now + kTile, softmax.most);
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

/// What was summed before takes the tile's shrink, and the tile's weights their dropout.
HWY_INLINE void shrink_and_drop(const TileView& tile, const RunningSoftmax& softmax, float* weights, float* sums) {
  const auto width = tile.shape.value_width;
  for (size_t r = 0; r < tile.query_count; ++r) {
    if (tile.shape.dropout > 0) drop(tile, r, weights + r * kTile);
    if (softmax.shrink[r] != 1) scale_row(sums + r * width, width, softmax.shrink[r]);
  }
}

/// The tile's rows of y and log_z.
template <class T>
HWY_INLINE void put_results(const TileView& tile, const RunningSoftmax& softmax, const float* sums, T* y,
                            float* log_z) {
  const auto& shape = tile.shape;
  const auto result = query_rows(tile, y, shape.value_width);
  float* own = log_z + (tile.batch * shape.heads + tile.head) * shape.queries + tile.first_query;
  for (size_t r = 0; r < tile.query_count; ++r) {
    result.put(sums + r * shape.value_width, tile.first_query + r, 1, 1 / softmax.totals[r]);
    own[r] = softmax.most[r] + std::log(softmax.totals[r]);
  }
}

/// Weights of a tile from its scores, and the gradients of the scores before the cap from those of the weights. Adds
/// those after the cap to the bias's gradient, where there is one.
HWY_INLINE void take_score_gradients(const TileView& tile, const float* log_z, const float* along, float* weights,
                                     float* gradients, const float* slopes, BiasGradient dbias) {
  for (size_t r = 0; r < tile.query_count; ++r) {
    const auto shift = all(log_z[tile.first_query + r]), mean = all(along[r]);
    const RowSeed seed(tile, r);
    const SeenVectors seen(tile, r);
    seen.clear_others(weights + r * kTile);
    seen.clear_others(gradients + r * kTile);
    const auto bias_row = static_cast<ptrdiff_t>(tile.first_query + r) * dbias.query +
                          static_cast<ptrdiff_t>(tile.first_key) - static_cast<ptrdiff_t>(r * kTile);
    for (size_t i = r * kTile + seen.first; i < r * kTile + seen.last; i += lanes()) {
      const auto weight = exp_of_negative(hn::Sub(load_whole(weights + i), shift));
      const bool drops = tile.shape.dropout > 0;
      const auto keep = drops ? kept(tile.shape, seed, tile.first_key + i - r * kTile) : all(1);
      auto gradient = hn::Mul(weight, hn::Sub(hn::Mul(keep, load_whole(gradients + i)), mean));
      if (dbias.from != nullptr) {
        float* to = dbias.from + bias_row + static_cast<ptrdiff_t>(i);
        store_whole(hn::Add(load_whole(to), gradient), to);
      }
      if (slopes != nullptr) gradient = hn::Mul(gradient, load_whole(slopes + i));
      store_whole(hn::Mul(keep, weight), weights + i);
      store_whole(gradient, gradients + i);
    }
  }
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
