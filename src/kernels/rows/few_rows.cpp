#include "kernels/rows/few_rows.h"

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/few_rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// kRows rows of x against kOutputs rows of w. Every sum is taken in the same order, whatever the block.
template <size_t kRows, size_t kOutputs, class T>
HWY_INLINE void few_rows_block(const FewRowsShape& shape, const T* x, const T* w, const T* bias, T* y) {
  constexpr size_t kSums = kOutputs < 4 ? 4 : kOutputs;  // they are added up four at a time
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
      hwy::Prefetch(w + (o + kOutputs) * inputs + i);  // of the next block: rows are too short for the processor to see
      HWY_UNROLL(8)
      for (size_t r = 0; r < kRows; ++r) sums[r][o] = hn::MulAdd(values[r], weights, sums[r][o]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    float totals[kSums];
    for (size_t o = 0; o < kSums; o += 4) sums_of_four(&sums[r][o], totals + o);
    for (size_t o = 0; o < kOutputs; ++o) {
      for (size_t j = i; j < inputs; ++j) totals[o] += wide(x[r * inputs + j]) * wide(w[o * inputs + j]);
      put(totals[o] + (bias == nullptr ? 0 : wide(bias[o])), y + r * shape.outputs + o);
    }
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

template <class T>
HWY_INLINE void few_rows_range(const FewRowsShape& shape, const T* x, const T* w, const T* bias, size_t first,
                               size_t last, T* y) {
  constexpr size_t kRows = HWY_TARGET == HWY_AVX3 ? 4 : 2;  // 32 registers, or 16
  auto o = first;
  if (shape.rows < kRows) o = few_rows_outputs<1, 8>(shape, x, w, bias, o, last, y);
  o = few_rows_outputs<kRows, 4>(shape, x, w, bias, o, last, y);
  few_rows_outputs<1, 1>(shape, x, w, bias, o, last, y);
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
  HWY_DYNAMIC_DISPATCH(few_rows_bf16)(shape, x, w, bias, first, last, y);
}

}  // namespace blockzoo::rows
#endif
