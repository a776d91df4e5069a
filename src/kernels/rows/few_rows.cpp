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
  Vector sums[kRows][kOutputs];
  HWY_UNROLL(8)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (size_t o = 0; o < kOutputs; ++o) sums[r][o] = hn::Zero(Floats());
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
      hwy::Prefetch(w + (o + kOutputs) * inputs +
                    i);  // of the next block: rows are too short for the processor to foresee
      HWY_UNROLL(8)
      for (size_t r = 0; r < kRows; ++r) sums[r][o] = hn::MulAdd(values[r], weights, sums[r][o]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t o = 0; o < kOutputs; ++o) {
      float sum = sum_of(sums[r][o]);
      for (size_t j = i; j < inputs; ++j) sum += wide(x[r * inputs + j]) * wide(w[o * inputs + j]);
      put(sum + (bias == nullptr ? 0 : wide(bias[o])), y + r * shape.outputs + o);
    }
  }
}

template <size_t kOutputs, class T>
HWY_INLINE void few_rows_outputs(const FewRowsShape& shape, const T* x, const T* w, const T* bias, T* y) {
  size_t r = 0;
  for (; r + 4 <= shape.rows; r += 4)
    few_rows_block<4, kOutputs>(shape, x + r * shape.inputs, w, bias, y + r * shape.outputs);
  for (; r < shape.rows; ++r) few_rows_block<1, kOutputs>(shape, x + r * shape.inputs, w, bias, y + r * shape.outputs);
}

template <class T>
HWY_INLINE void few_rows_range(const FewRowsShape& shape, const T* x, const T* w, const T* bias, size_t first,
                               size_t last, T* y) {
  const auto own_bias = [&](size_t o) { return bias == nullptr ? nullptr : bias + o; };
  constexpr size_t kMost = HWY_TARGET == HWY_AVX3 ? 8 : 2;  // 32 registers, or 16
  size_t o = first;
  for (; o + kMost <= last; o += kMost) few_rows_outputs<kMost>(shape, x, w + o * shape.inputs, own_bias(o), y + o);
  for (; o < last; ++o) few_rows_outputs<1>(shape, x, w + o * shape.inputs, own_bias(o), y + o);
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
