#include "kernels/rows/weight_gradient_pairs.h"

#include <algorithm>

#include "kernels/rows/instructions.h"
#include "kernels/rows/targets.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (BLOCKZOO_UNUSED_TARGETS | HWY_AVX2)  // AVX3 is the first to be compiled
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/weight_gradient_pairs.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3
#include "kernels/rows/avx3_bf16-inl.h"
// These come behind it.
#include "kernels/rows/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

// Blocks as in weight_gradient.cpp, with two rows of X and dY where it has one.
constexpr size_t kPanel = 32;        // columns of X side by side
constexpr size_t kStrip = 8;         // columns of dY side by side, rows of dW
constexpr size_t kDepth = 1024;      // rows of X and dY taken at once
constexpr size_t kBlockStrips = 16;  // strips taken at once
constexpr size_t kAhead = 16;        // rows that memory is asked for before they are packed
constexpr size_t kGap = 16;   // pairs between panels, whose rows would else push each other out of the first cache
constexpr size_t kGroup = 4;  // rows of dW that a task has

constexpr size_t parts(size_t count, size_t size) { return (count + size - 1) / size; }

/// Where the next panel begins.
template <size_t kWidth>
constexpr size_t panel_size(size_t pairs) {
  return pairs * kWidth + kGap;
}

HWY_INLINE size_t packed_rows(const WeightGradientShape& shape) {
  return parts(shape.inputs, kPanel) * panel_size<kPanel>(parts(std::min(kDepth, shape.rows), 2));
}

/// `width` columns of some rows, panel by panel: [panels, depth / 2, kWidth] with gaps, filled up with zeros.
template <size_t kWidth>
HWY_INLINE void pack_columns(const Bf16* from, size_t row, size_t depth, size_t width, Bf16Pair* to) {
  const auto pairs = parts(depth, 2);
  const auto own_lanes = [&](size_t i) HWY_ATTR { return hn::FirstN(Words(), std::min(lanes(), kWidth - i)); };
  for (size_t p = 0; p < pairs; ++p) {
    const Bf16* own = from + 2 * p * row;
    const Bf16* next = 2 * p + 1 < depth ? own + row : nullptr;
    Bf16Pair* panel = to + p * kWidth;
    size_t first = 0;
    const auto reach = parts(kWidth, lanes()) * lanes();  // columns that whole vectors read
    for (; first + reach <= width; first += kWidth, panel += panel_size<kWidth>(pairs)) {
      for (size_t i = 0; i < kWidth; i += lanes()) {
        hwy::Prefetch(own + first + i + kAhead * row);
        hwy::Prefetch(own + first + i + (kAhead + 1) * row);
        const auto pair = paired(own + first + i, next == nullptr ? nullptr : next + first + i);
        hn::BlendedStore(pair, own_lanes(i), Words(), reinterpret_cast<uint32_t*>(panel + i));
      }
    }
    for (; first < width; first += kWidth, panel += panel_size<kWidth>(pairs)) {
      const auto count = std::min(kWidth, width - first);
      for (size_t i = 0; i < count; ++i) panel[i] = {own[first + i], next == nullptr ? Bf16{} : next[first + i]};
      std::fill(panel + count, panel + kWidth, Bf16Pair{});
    }
  }
}

void pack_inputs_pairs(const WeightGradientShape& shape, const Bf16* x, size_t first, size_t last, Bf16Pair* packed) {
  for (size_t task = first; task < last; ++task) {
    const auto row = task * kDepth, depth = std::min(kDepth, shape.rows - row);
    pack_columns<kPanel>(x + row * shape.inputs, shape.inputs, depth, shape.inputs, packed + task * packed_rows(shape));
  }
}

/// kRows rows and kPanel columns of dW, or what is added to them.
template <size_t kRows>
HWY_INLINE void tile_of(size_t pairs, const Bf16Pair* strip, const Bf16Pair* panel, Dense<float> dw, bool add) {
  product_block<kRows, kPanel / 16, Bf16Pair>({0, 0, 0, pairs}, {strip, 1, kStrip}, {panel, kPanel}, dw, add);
}

/// The first `rows` of a strip.
HWY_INLINE void some_rows(size_t pairs, const Bf16Pair* strip, const Bf16Pair* panel, Dense<float> dw, bool add,
                          size_t rows) {
  if (rows == kStrip) return tile_of<kStrip>(pairs, strip, panel, dw, add);
  size_t r = 0;
  for (; r + kGroup <= rows; r += kGroup) tile_of<kGroup>(pairs, strip + r, panel, {dw.from + r * dw.row, dw.row}, add);
  for (; r < rows; ++r) tile_of<1>(pairs, strip + r, panel, {dw.from + r * dw.row, dw.row}, add);
}

/// The same where dW ends, the first `columns` of them.
HWY_INLINE void last_columns(size_t pairs, const Bf16Pair* strip, const Bf16Pair* panel, Dense<float> dw, bool add,
                             size_t rows, size_t columns) {
  HWY_ALIGN float tile[kStrip * kPanel] = {};
  for (size_t r = 0; add && r < rows; ++r) std::copy_n(dw.from + r * dw.row, columns, tile + r * kPanel);
  some_rows(pairs, strip, panel, {tile, kPanel}, add, rows);
  for (size_t r = 0; r < rows; ++r) std::copy_n(tile + r * kPanel, columns, dw.from + r * dw.row);
}

/// Rows `first` to `last` of dW.
HWY_INLINE void sum_block(const WeightGradientShape& shape, const Bf16* dy, const Bf16Pair* packed, size_t first,
                          size_t last, Bf16Pair* strips, float* dw) {
  for (size_t row = 0; row < shape.rows; row += kDepth, packed += packed_rows(shape)) {
    const auto depth = std::min(kDepth, shape.rows - row), pairs = parts(depth, 2);
    pack_columns<kStrip>(dy + row * shape.outputs + first, shape.outputs, depth, last - first, strips);
    for (size_t i = 0; i < shape.inputs; i += kPanel) {
      const auto columns = std::min(kPanel, shape.inputs - i);
      const Bf16Pair* panel = packed + i / kPanel * panel_size<kPanel>(pairs);
      for (size_t o = first; o < last; o += kStrip) {
        const auto rows = std::min(kStrip, last - o);
        const Bf16Pair* strip = strips + (o - first) / kStrip * panel_size<kStrip>(pairs);
        const Dense<float> tile{dw + o * shape.inputs + i, shape.inputs};
        if (columns == kPanel)
          some_rows(pairs, strip, panel, tile, row > 0, rows);
        else
          last_columns(pairs, strip, panel, tile, row > 0, rows, columns);
      }
    }
  }
}

void weight_gradient_pairs(const WeightGradientShape& shape, const Bf16* dy, const Bf16Pair* packed, size_t first,
                           size_t last, float* dw) {
  const auto end = std::min(last * kGroup, shape.outputs);
  const auto strips = hwy::AllocateAligned<Bf16Pair>(kBlockStrips * panel_size<kStrip>(kDepth / 2));
  for (size_t row = first * kGroup; row < end; row += kBlockStrips * kStrip)
    sum_block(shape, dy, packed, row, std::min(end, row + kBlockStrips * kStrip), strips.get(), dw);
}

size_t packing_tasks_pairs(const WeightGradientShape& shape) { return parts(shape.rows, kDepth); }
size_t packed_size_pairs(const WeightGradientShape& shape) { return packing_tasks_pairs(shape) * packed_rows(shape); }
size_t tasks_pairs(const WeightGradientShape& shape) { return parts(shape.outputs, kGroup); }

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace blockzoo::rows {

const WeightGradientInPairs* weight_gradient_in_pairs() {
#if HWY_TARGETS & HWY_AVX3
  static constexpr WeightGradientInPairs kernels{N_AVX3_BF16::packing_tasks_pairs, N_AVX3_BF16::packed_size_pairs,
                                                 N_AVX3_BF16::pack_inputs_pairs, N_AVX3_BF16::tasks_pairs,
                                                 N_AVX3_BF16::weight_gradient_pairs};
  if (multiplies_pairs()) return &kernels;
#endif
  return nullptr;
}

}  // namespace blockzoo::rows
#endif
