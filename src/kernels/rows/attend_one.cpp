#include "kernels/rows/attend_one.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/attend_one.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// The keys or the values of one head.
template <class T>
struct Kept {
  const T* from;
  ptrdiff_t stride;
  size_t width;

  const T* row(size_t j) const { return from + static_cast<ptrdiff_t>(j) * stride; }
};

/// Asks the second cache for `count` rows of what is read next.
template <class T>
HWY_INLINE void prefetch_rows(const Kept<T>& next, size_t first, size_t count) {
  constexpr size_t kLine = 64 / sizeof(T);
  for (size_t j = first; j < first + count; ++j) {
    for (size_t i = 0; i < next.width; i += kLine) __builtin_prefetch(next.row(j) + i, 0, 2);
  }
}

/// to[j] = q k_j for kKeys keys from `first` on.
template <size_t kKeys, class T>
HWY_INLINE void key_products_block(const float* q, const Kept<T>& keys, size_t first, float* to) {
  Vector sums[4];
  for (auto& sum : sums) sum = hn::Zero(Floats());
  size_t i = 0;
  for (; i + lanes() <= keys.width; i += lanes()) {
    const auto channels = load_whole(q + i);
    HWY_UNROLL(4)
    for (size_t j = 0; j < kKeys; ++j) sums[j] = hn::MulAdd(channels, load_whole(keys.row(first + j) + i), sums[j]);
  }
  float totals[4];
  sums_of_four(sums, totals);
  for (size_t j = 0; j < kKeys; ++j) {
    for (size_t rest = i; rest < keys.width; ++rest) totals[j] += q[rest] * wide(keys.row(first + j)[rest]);
    to[j] = totals[j];
  }
}

/// The products of `count` keys; `next` is read after them.
template <class T>
HWY_INLINE void key_products(const float* q, const Kept<T>& keys, size_t count, const Kept<T>& next, float* scores) {
  size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    prefetch_rows(next, j, 4);
    key_products_block<4>(q, keys, j, scores + j);
  }
  for (; j < count; ++j) key_products_block<1>(q, keys, j, scores + j);
}

/// The scores become weights that sum to one; `filled` of them, whole vectors.
HWY_INLINE void softmax_of(float* scores, size_t filled) {
  auto top = all(-INFINITY);
  for (size_t i = 0; i < filled; i += lanes()) top = hn::Max(top, load_whole(scores + i));
  const auto shift = hn::MaxOfLanes(Floats(), top);
  auto sums = hn::Zero(Floats());
  for (size_t i = 0; i < filled; i += lanes()) {
    const auto weight = exp_of(hn::Sub(load_whole(scores + i), shift));
    sums = hn::Add(sums, weight);
    store_whole(weight, scores + i);
  }
  const auto factor = all(1 / sum_of(sums));
  for (size_t i = 0; i < filled; i += lanes()) store_whole(hn::Mul(load_whole(scores + i), factor), scores + i);
}

/// kVectors vectors of y = sum of weights[j] v_j from channel `i` on; `some` elements of each vector count.
template <size_t kVectors, class T>
HWY_INLINE void mix_block(const float* weights, const Kept<T>& values, size_t i, size_t some, size_t count,
                          const Kept<T>& next, T* y) {
  Vector sums[kVectors];
  HWY_UNROLL(4)
  for (size_t c = 0; c < kVectors; ++c) sums[c] = hn::Zero(Floats());
  for (size_t j = 0; j < count; ++j) {
    if (i == 0) prefetch_rows(next, j, 1);
    const auto weight = all(weights[j]);
    HWY_UNROLL(4)
    for (size_t c = 0; c < kVectors; ++c)
      sums[c] = hn::MulAdd(weight, load(values.row(j) + i + c * lanes(), some), sums[c]);
  }
  HWY_UNROLL(4)
  for (size_t c = 0; c < kVectors; ++c) store(sums[c], y + i + c * lanes(), some);
}

/// y = sum of weights[j] v_j over `count` values; `next` is read after them.
template <class T>
HWY_INLINE void mix_values(const float* weights, const Kept<T>& values, size_t count, const Kept<T>& next, T* y) {
  const auto width = values.width;
  size_t i = 0;
  for (; i + 4 * lanes() <= width; i += 4 * lanes()) mix_block<4>(weights, values, i, lanes(), count, next, y);
  for (; i + 2 * lanes() <= width; i += 2 * lanes()) mix_block<2>(weights, values, i, lanes(), count, next, y);
  for (; i + lanes() <= width; i += lanes()) mix_block<1>(weights, values, i, lanes(), count, next, y);
  if (i < width) mix_block<1>(weights, values, i, width - i, count, next, y);
}

HWY_INLINE void cap_scores(float cap, float* scores, size_t filled) {
  const auto most = all(cap), twice_inverse = all(2 / cap), one = all(1);
  for (size_t i = 0; i < filled; i += lanes()) {
    const auto s = sigmoid_of(hn::Mul(load_whole(scores + i), twice_inverse));
    store_whole(hn::Mul(most, hn::Sub(hn::Add(s, s), one)), scores + i);
  }
}

/// Of the keys or values of head `row`, of batch * heads, those from `first_key` on.
template <class T>
HWY_INLINE Kept<T> kept_rows(const OneQueryShape& shape, const T* x, const typename OneQueryInputs<T>::Strides& strides,
                             size_t width, size_t row, size_t first_key) {
  const auto batch = static_cast<ptrdiff_t>(row / shape.heads);
  const auto group = static_cast<ptrdiff_t>(row % shape.heads / (shape.heads / shape.key_heads));
  return {x + batch * strides.batch + group * strides.head + static_cast<ptrdiff_t>(first_key) * strides.key,
          strides.key, width};
}

template <class T>
HWY_INLINE void attend_one_range(const OneQueryShape& shape, const OneQueryInputs<T>& inputs, size_t first, size_t last,
                                 T* y) {
  const auto room = (shape.keys + lanes() - 1) / lanes() * lanes();
  std::vector<float> scores(room), query(shape.width);
  for (size_t row = first; row < last; ++row) {
    const auto batch = row / shape.heads, head = row % shape.heads;
    const auto gone = shape.absent == nullptr ? 0 : static_cast<size_t>(shape.absent[batch]);
    const auto from = std::max(shape.first_key, gone);
    if (from >= shape.keys) {
      std::fill_n(y + row * shape.value_width, shape.value_width, T{});
      continue;
    }
    const auto count = shape.keys - from, filled = (count + lanes() - 1) / lanes() * lanes();
    const auto keys_of = [&](size_t of) { return kept_rows(shape, inputs.k, inputs.k_strides, shape.width, of, from); };
    const auto values = kept_rows(shape, inputs.v, inputs.v_strides, shape.value_width, row, from);
    const T* q = inputs.q + row * shape.width;
    for (size_t i = 0; i < shape.width; ++i) query[i] = wide(q[i]) * shape.scale;
    key_products(query.data(), keys_of(row), count, values, scores.data());
    if (shape.softcap > 0) cap_scores(shape.softcap, scores.data(), filled);
    if (shape.bias != nullptr) {
      const float* bias = shape.bias + static_cast<ptrdiff_t>(batch) * shape.bias_batch +
                          static_cast<ptrdiff_t>(head) * shape.bias_head + from;
      for (size_t j = 0; j < count; ++j) scores[j] += bias[j];
    }
    std::fill(scores.begin() + static_cast<ptrdiff_t>(count), scores.begin() + static_cast<ptrdiff_t>(filled),
              -INFINITY);
    softmax_of(scores.data(), filled);
    mix_values(scores.data(), values, count, keys_of(std::min(row + 1, last - 1)), y + row * shape.value_width);
  }
}

void attend_one_f32(const OneQueryShape& shape, const OneQueryInputs<float>& inputs, size_t first, size_t last,
                    float* y) {
  attend_one_range(shape, inputs, first, last, y);
}
void attend_one_bf16(const OneQueryShape& shape, const OneQueryInputs<Bf16>& inputs, size_t first, size_t last,
                     Bf16* y) {
  attend_one_range(shape, inputs, first, last, y);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(attend_one_f32);
HWY_EXPORT(attend_one_bf16);

void attend_one(const OneQueryShape& shape, const OneQueryInputs<float>& inputs, size_t first, size_t last, float* y) {
  HWY_DYNAMIC_DISPATCH(attend_one_f32)(shape, inputs, first, last, y);
}

void attend_one(const OneQueryShape& shape, const OneQueryInputs<Bf16>& inputs, size_t first, size_t last, Bf16* y) {
  HWY_DYNAMIC_DISPATCH(attend_one_bf16)(shape, inputs, first, last, y);
}

}  // namespace blockzoo::rows
#endif
