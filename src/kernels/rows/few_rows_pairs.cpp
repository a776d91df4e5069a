#include "kernels/rows/few_rows_pairs.h"

#include <algorithm>
#include <vector>

#include "kernels/rows/instructions.h"
#include "kernels/rows/targets.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (BLOCKZOO_UNUSED_TARGETS | HWY_AVX2)  // AVX3 is the first to be compiled
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/few_rows_pairs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3
#include "kernels/rows/avx3_bf16-inl.h"
// These come behind it.
#include "kernels/rows/abreast-inl.h"
#include "kernels/rows/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// kOutputs outputs of all rows from their `pairs` of inputs.
template <size_t kOutputs>
HWY_INLINE void outputs_of_pairs(size_t pairs, const Bf16Pair* x_across, const Bf16* w, size_t stride, float* sums) {
  const auto rows = pairs_of(w, stride);
  for (size_t i = 0; i < pairs; i += kBreath) {
    const auto some = std::min(kBreath, pairs - i);
    prefetch_stretch(w + 2 * i * kOutputs, 2 * some * kOutputs);
    product_block<kOutputs, 1, Bf16Pair>({0, 0, 0, some}, {rows.from + i, rows.row, 1},
                                         {x_across + i * kMostRows, kMostRows}, {sums, kMostRows}, i > 0);
  }
}

void few_rows_pairs(const FewRowsShape& shape, const Bf16* x, const Bf16* w, const Bf16* bias, size_t first,
                    size_t last, Bf16* y) {
  const auto pairs = shape.inputs / 2;
  std::vector<Bf16Pair> x_across(pairs * kMostRows);
  turn_pairs(x, shape.inputs, shape.rows, shape.inputs, kMostRows, x_across.data());
  float sums[kAbreast * kMostRows];
  for (size_t o = first; o < last;) {
    const auto outputs = last - o < kAbreast ? 1 : kAbreast;
    const Bf16* own = w + o * shape.inputs;
    if (outputs == 1)
      outputs_of_pairs<1>(pairs, x_across.data(), own, shape.inputs, sums);
    else
      outputs_of_pairs<kAbreast>(pairs, x_across.data(), own, shape.inputs, sums);
    put_abreast(shape, outputs, sums, bias == nullptr ? nullptr : bias + o, y + o);
    o += outputs;
  }
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace blockzoo::rows {

FewRowsInPairs few_rows_in_pairs() {
#if HWY_TARGETS & HWY_AVX3
  if (multiplies_pairs()) return N_AVX3_BF16::few_rows_pairs;
#endif
  return nullptr;
}

}  // namespace blockzoo::rows
#endif
