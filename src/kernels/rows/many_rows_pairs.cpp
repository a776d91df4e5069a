#include "kernels/rows/many_rows_pairs.h"

#include "kernels/rows/instructions.h"
#include "kernels/rows/targets.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (BLOCKZOO_UNUSED_TARGETS | HWY_AVX2)  // AVX3 is the first to be compiled
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/many_rows_pairs.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3
#include "kernels/rows/avx3_bf16-inl.h"
// These come behind it.
#include "kernels/rows/many_rows-inl.h"
#include "kernels/rows/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

HWY_INLINE size_t pairs_in(const ManyRowsShape& shape) { return parts_of(shape.inputs, 2); }

size_t panels_pairs(const ManyRowsShape& shape) { return panels_of(shape); }
size_t packed_size_pairs(const ManyRowsShape& shape) { return panels_of(shape) * kPanelWidth * pairs_in(shape); }
size_t tiles_pairs(const ManyRowsShape& shape) { return parts_of(shape.rows, kBlockRows) * panels_of(shape); }

/// Numbers of `count` columns of two rows of M, pair by pair; `second` may be null for zeros.
HWY_INLINE void pair_columns(const Bf16* one, const Bf16* second, size_t count, Bf16Pair* to) {
  size_t o = 0;
  for (; o + lanes() <= count; o += lanes())
    store_pairs(paired(one + o, second == nullptr ? nullptr : second + o), to + o);
  for (; o < count; ++o) to[o] = {one[o], second == nullptr ? Bf16{} : second[o]};
}

void pack_matrix_pairs(const ManyRowsShape& shape, const MatrixOf<Bf16>& matrix, size_t first, size_t last,
                       Bf16Pair* packed) {
  const auto pairs = pairs_in(shape), whole = shape.inputs / 2;
  for (size_t task = first; task < last; ++task) {
    const auto column = task * kPanelWidth, width = std::min(kPanelWidth, shape.outputs - column);
    Bf16Pair* panel = packed + column * pairs;
    const auto row_of = [&](size_t o) { return matrix.from + (column + o) * matrix.column; };
    if (matrix.row == 1) {
      turn_panel([&](size_t o) { return reinterpret_cast<const Bf16Pair*>(row_of(o)); }, whole, width, panel);
      Bf16Pair* end = panel + whole * kPanelWidth;
      if (whole == pairs) continue;
      for (size_t o = 0; o < kPanelWidth; ++o) end[o] = {o < width ? row_of(o)[shape.inputs - 1] : Bf16{}, Bf16{}};
      continue;
    }
    for (size_t i = 0; i < pairs; ++i, panel += kPanelWidth) {
      const Bf16* one = matrix.from + 2 * i * matrix.row + column;
      pair_columns(one, i < whole ? one + matrix.row : nullptr, width, panel);
      std::fill(panel + width, panel + kPanelWidth, Bf16Pair{});
    }
  }
}

void many_rows_pairs(const ManyRowsShape& shape, const Bf16* x, const Bf16Pair* packed, const Bf16* bias, size_t first,
                     size_t last, Bf16* y) {
  const auto pairs = pairs_in(shape);
  const bool odd = shape.inputs % 2 != 0;
  const auto copies = hwy::AllocateAligned<Bf16Pair>(odd ? kBlockRows * pairs : 1);
  const auto rows_of = [&](size_t row, size_t count) HWY_ATTR {
    const Bf16* own = x + row * shape.inputs;
    if (!odd) return pairs_of(own, shape.inputs);
    for (size_t r = 0; r < count; ++r) {
      Bf16Pair* copy = copies.get() + r * pairs;
      copy[pairs - 1] = {};
      std::memcpy(copy, own + r * shape.inputs, shape.inputs * sizeof(Bf16));
    }
    return StridedOf<Bf16Pair>{copies.get(), pairs, 1};
  };
  tiles(shape, pairs, rows_of, packed, bias, first, last, y);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace blockzoo::rows {

const ManyRowsInPairs* many_rows_in_pairs() {
#if HWY_TARGETS & HWY_AVX3
  static constexpr ManyRowsInPairs kernels{N_AVX3_BF16::panels_pairs, N_AVX3_BF16::packed_size_pairs,
                                           N_AVX3_BF16::pack_matrix_pairs, N_AVX3_BF16::tiles_pairs,
                                           N_AVX3_BF16::many_rows_pairs};
  if (multiplies_pairs()) return &kernels;
#endif
  return nullptr;
}

}  // namespace blockzoo::rows
#endif
