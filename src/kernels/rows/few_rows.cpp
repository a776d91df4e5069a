#include "kernels/rows/few_rows.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/rows/few_rows_pairs.h"
#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/few_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/abreast-inl.h"
#include "kernels/rows/row_end-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// kRows rows of x against kOutputs rows of w. Every sum is taken in the same order, whatever the block.
template <size_t kRows, size_t kOutputs, class T>
HWY_INLINE void few_rows_block(const FewRowsShape& shape, const T* x, const T* w, const T* bias, T* y) {
  constexpr size_t kSums = 4;                                        // they are added up four at a time
  constexpr size_t kAhead = kRows == 1 ? kFarAhead / 2 : kFarAhead;  // bytes; one row is read through sooner
  Vector sums[kRows][kSums];
  HWY_UNROLL(8)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (size_t o = 0; o < kSums; ++o) sums[r][o] = hn::Zero(Floats());
  }
  const size_t inputs = shape.inputs, step = lanes();
  size_t i = 0;
  for (; i + step <= inputs; i += step) {
    Vector values[kRows];
    HWY_UNROLL(8)
    for (size_t r = 0; r < kRows; ++r) values[r] = load_whole(x + r * inputs + i);
    HWY_UNROLL(8)
    for (size_t o = 0; o < kOutputs; ++o) {
      const auto weights = load_whole(w + o * inputs + i);
      if (o * step * sizeof(T) % kLine == 0) prefetch(w + i * kOutputs + o * step, kAhead);
      HWY_UNROLL(8)
      for (size_t r = 0; r < kRows; ++r) sums[r][o] = hn::MulAdd(values[r], weights, sums[r][o]);
    }
  }
  const T* rest[kOutputs];
  for (size_t o = 0; o < kOutputs; ++o) rest[o] = w + o * inputs + i;
  for (size_t r = 0; r < kRows; ++r) {
    float totals[kSums];
    sums_of_four(sums[r], totals);
    put_totals<kOutputs>(inputs - i, totals, x + r * inputs + i, rest, bias, y + r * shape.outputs);
  }
}

/// All rows against the outputs from `o` on that make blocks of kOutputs; returns the first that is left.
template <size_t kRows, size_t kOutputs, class T>
HWY_INLINE size_t few_rows_outputs(const FewRowsShape& shape, const T* x, const T* w, const T* bias, size_t o,
                                   size_t last, T* y) {
  for (; o + kOutputs <= last; o += kOutputs) {
    const T* own_bias = bias == nullptr ? nullptr : bias + o;
    size_t r = 0;
    for (; r + kRows <= shape.rows; r += kRows)
      few_rows_block<kRows, kOutputs>(shape, x + r * shape.inputs, w + o * shape.inputs, own_bias,
                                      y + r * shape.outputs + o);
    for (; r < shape.rows; ++r)
      few_rows_block<1, kOutputs>(shape, x + r * shape.inputs, w + o * shape.inputs, own_bias,
                                  y + r * shape.outputs + o);
  }
  return o;
}

#define BLOCKZOO_ROWS_ABREAST (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2)
constexpr size_t kVectors = HWY_TARGET == HWY_AVX2 ? 2 : 1;  // that 16 rows fill
constexpr size_t kTogether = kAbreast / kVectors;            // outputs whose sums the registers hold
constexpr size_t kRun = 128;                                 // inputs of a block of weights that the first cache holds

/// Some weights as float32: a whole block of float32 where it is, others copied to `block` [kAbreast, kRun].
template <class T>
HWY_INLINE Strided weights_at(const T* w, size_t inputs, size_t outputs, size_t count, float* block) {
  if constexpr (std::is_same_v<T, float>) {
    if (outputs == kAbreast) return {w, inputs, 1};
  }
  for (size_t o = 0; o < outputs; ++o)
    walk(count,
         [&](size_t i, size_t some) HWY_ATTR { store(load(w + o * inputs + i, some), block + o * kRun + i, some); });
  return {block, kRun, 1};
}

/// Where 9 to 16 rows fill one vector or two: a number of w times a column of x, for all rows at once. x_across
/// [inputs, 16].
template <class T>
HWY_INLINE void rows_abreast(const FewRowsShape& shape, const float* x_across, const T* w, const T* bias, size_t first,
                             size_t last, T* y) {
  const size_t inputs = shape.inputs;
  float block[kAbreast * kRun] = {}, sums[kAbreast * kMostRows];
  size_t asked = first * inputs;
  for (size_t o = first; o < last; o += kAbreast) {
    const auto outputs = std::min(kAbreast, last - o);
    for (size_t from = 0; from < inputs; from += kRun) {
      const auto count = std::min(kRun, inputs - from);
      const auto weights = weights_at(w + o * inputs + from, inputs, outputs, count, block);
      for (size_t i = 0; i < count; i += kBreath) {
        const auto some = std::min(kBreath, count - i);
        prefetch_stretch(w + asked, some * outputs);
        asked += some * outputs;
        for (size_t k = 0; k < kAbreast; k += kTogether)
          product_block<kTogether, kVectors>({0, 0, 0, some}, {weights.from + k * weights.row + i, weights.row, 1},
                                             {x_across + (from + i) * kMostRows, kMostRows},
                                             {sums + k * kMostRows, kMostRows}, from + i > 0);
      }
    }
    put_abreast(shape, outputs, sums, bias == nullptr ? nullptr : bias + o, y + o);
  }
}

template <class T>
HWY_INLINE void few_rows_range(const FewRowsShape& shape, const T* x, const T* w, const T* bias, size_t first,
                               size_t last, T* y) {
  constexpr size_t kRows = HWY_TARGET == HWY_AVX3 ? 4 : 2;  // 32 registers, or 16
  if (BLOCKZOO_ROWS_ABREAST && shape.rows > kMostRows / 2) {
    std::vector<float> x_across(shape.inputs * kMostRows);
    for (size_t r = 0; r < shape.rows; ++r) {
      for (size_t i = 0; i < shape.inputs; ++i) x_across[i * kMostRows + r] = wide(x[r * shape.inputs + i]);
    }
    return rows_abreast(shape, x_across.data(), w, bias, first, last, y);
  }
  const auto o = few_rows_outputs<kRows, 4>(shape, x, w, bias, first, last, y);
  few_rows_outputs<kRows, 1>(shape, x, w, bias, o, last, y);
}

void few_rows_f32(const FewRowsShape& shape, const float* x, const float* w, const float* bias, size_t first,
                  size_t last, float* y) {
  few_rows_range(shape, x, w, bias, first, last, y);
}
void few_rows_bf16(const FewRowsShape& shape, const Bf16* x, const Bf16* w, const Bf16* bias, size_t first, size_t last,
                   Bf16* y) {
  few_rows_range(shape, x, w, bias, first, last, y);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(few_rows_f32);
HWY_EXPORT(few_rows_bf16);

void few_rows(const FewRowsShape& shape, const float* x, const float* w, const float* bias, size_t first, size_t last,
              float* y) {
  HWY_DYNAMIC_DISPATCH(few_rows_f32)(shape, x, w, bias, first, last, y);
}

void few_rows(const FewRowsShape& shape, const Bf16* x, const Bf16* w, const Bf16* bias, size_t first, size_t last,
              Bf16* y) {
  const auto in_pairs = few_rows_in_pairs();
  if (in_pairs != nullptr && shape.rows > 8 && shape.inputs % 2 == 0)
    return in_pairs(shape, x, w, bias, first, last, y);
  HWY_DYNAMIC_DISPATCH(few_rows_bf16)(shape, x, w, bias, first, last, y);
}

}  // namespace blockzoo::rows
#endif
