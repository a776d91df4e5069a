// What 9 to 16 rows that fill a vector share, whatever they are multiplied with (Highway's pattern).
#if defined(BLOCKZOO_KERNELS_ROWS_ABREAST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BLOCKZOO_KERNELS_ROWS_ABREAST_INL_H_
#undef BLOCKZOO_KERNELS_ROWS_ABREAST_INL_H_
#else
#define BLOCKZOO_KERNELS_ROWS_ABREAST_INL_H_
#endif

#include "kernels/rows/few_rows.h"
#include "kernels/rows/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

constexpr size_t kMostRows = 16;
constexpr size_t kAbreast = 12;      // outputs that are taken together, their sums in registers
constexpr size_t kBreath = 32;       // steps between requests to memory: more at once would have to wait
constexpr size_t kLine = 64;         // bytes that memory gives at once
constexpr size_t kFarAhead = 65536;  // bytes from the weights at work to those that are asked for
constexpr size_t kNearAhead = kFarAhead / 4;

/// Asks the second cache for what comes `ahead` bytes behind `weights`. Outputs that are taken side by side make one
/// stretch of memory; asked for in its order, the processor reads ahead along it, over the ends of pages too.
HWY_INLINE void prefetch(const void* weights, size_t ahead) {
  __builtin_prefetch(static_cast<const char*>(weights) + ahead, 0, 2);
}

/// Asks the first cache, which takes fewer requests at a time, and nearer ones.
HWY_INLINE void prefetch_near(const void* weights, size_t ahead) {
  __builtin_prefetch(static_cast<const char*>(weights) + ahead, 0, 3);
}

/// prefetch() for `count` weights side by side.
template <class T>
HWY_INLINE void prefetch_stretch(const T* weights, size_t count) {
  for (size_t i = 0; i < count; i += kLine / sizeof(T)) prefetch(weights + i, kFarAhead);
}

/// Each row's `outputs` from `sums` [outputs, 16].
template <class T>
HWY_INLINE void put_abreast(const FewRowsShape& shape, size_t outputs, const float* sums, const T* bias, T* y) {
  for (size_t r = 0; r < shape.rows; ++r) {
    for (size_t k = 0; k < outputs; ++k)
      put(sums[k * kMostRows + r] + (bias == nullptr ? 0 : wide(bias[k])), y + r * shape.outputs + k);
  }
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
