// How the sums of a row of few become outputs, whatever the weights were read from (Highway's pattern).
#if defined(BLOCKZOO_KERNELS_ROWS_ROW_END_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BLOCKZOO_KERNELS_ROWS_ROW_END_INL_H_
#undef BLOCKZOO_KERNELS_ROWS_ROW_END_INL_H_
#else
#define BLOCKZOO_KERNELS_ROWS_ROW_END_INL_H_
#endif

#include <cmath>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// Outputs from their totals over all inputs but the last `count`, which follow at x, and at w[o] for output o. They
/// are added without a choice for the compiler, so that a row gives the same in a block and alone.
template <size_t kOutputs, class T>
HWY_INLINE void put_totals(size_t count, float* totals, const T* x, const T* const* w, const T* bias, T* y) {
  for (size_t o = 0; o < kOutputs; ++o) {
    for (size_t i = 0; i < count; ++i) totals[o] = std::fma(wide(x[i]), wide(w[o][i]), totals[o]);
    if (bias != nullptr) totals[o] += wide(bias[o]);
  }
  put_all<kOutputs>(totals, y);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
