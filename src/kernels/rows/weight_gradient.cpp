#include "kernels/rows/weight_gradient.h"

#include <algorithm>
#include <vector>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/weight_gradient.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/product-inl.h"

#ifndef BLOCKZOO_KERNELS_ROWS_WEIGHT_GRADIENT_CPP_
#define BLOCKZOO_KERNELS_ROWS_WEIGHT_GRADIENT_CPP_
namespace blockzoo::rows {

// Blocks after Goto and van de Geijn (2008, Anatomy of High-Performance Matrix Multiplication): a panel of X stays in
// the first cache while strips of dY go by, and a block of dW in the second until its sums are done.
constexpr size_t kPanel = 32;        // columns of X side by side
constexpr size_t kStrip = 12;        // columns of dY side by side, rows of dW
constexpr size_t kDepth = 256;       // rows of X and dY taken at once
constexpr size_t kBlockStrips = 20;  // strips of a block of dW
constexpr size_t kBlockPanels = 32;  // panels of a block of dW

inline size_t parts(size_t count, size_t size) { return (count + size - 1) / size; }

}  // namespace blockzoo::rows
#endif

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// `width` columns of some rows, panel by panel: [panels, depth, panel], filled up with zeros.
HWY_INLINE void pack_columns(const float* from, size_t row, size_t depth, size_t width, size_t panel, float* to) {
  for (size_t first = 0; first < width; first += panel) {
    const auto count = std::min(panel, width - first);
    for (size_t p = 0; p < depth; ++p, to += panel) {
      const float* own = from + p * row + first;
      for (size_t i = 0; i < count; ++i) to[i] = own[i];
      for (size_t i = count; i < panel; ++i) to[i] = 0;
    }
  }
}

void pack_inputs_f32(const WeightGradientShape& shape, const float* x, size_t first, size_t last, float* packed) {
  const auto width = parts(shape.inputs, kPanel) * kPanel;
  for (size_t task = first; task < last; ++task) {
    const auto row = task * kDepth, depth = std::min(kDepth, shape.rows - row);
    pack_columns(x + row * shape.inputs, shape.inputs, depth, shape.inputs, kPanel, packed + row * width);
  }
}

/// kStrip rows and kPanel columns of dW.
HWY_INLINE void add_products(size_t depth, const float* strip, const float* panel, Dense<float> dw) {
  constexpr size_t kVectors = HWY_TARGET == HWY_AVX3 ? 2 : 1, kRows = HWY_TARGET == HWY_AVX3 ? kStrip : kStrip / 2;
  const Part part{0, 0, 0, depth};
  for (size_t r = 0; r < kStrip; r += kRows) {
    for (size_t i = 0; i < kPanel; i += kVectors * lanes())
      product_block<kRows, kVectors>(part, {strip + r, 1, kStrip}, {panel + i, kPanel},
                                     {dw.from + r * dw.row + i, dw.row}, true);
  }
}

/// A block of dW: `count` rows from `first` on, the panels `first_panel` to `last_panel`.
HWY_INLINE void sum_block(const WeightGradientShape& shape, const float* dy, const float* packed, size_t first,
                          size_t count, size_t first_panel, size_t last_panel, float* strips, Dense<float> sums) {
  const auto width = parts(shape.inputs, kPanel) * kPanel;
  for (size_t row = 0; row < shape.rows; row += kDepth) {
    const auto depth = std::min(kDepth, shape.rows - row);
    pack_columns(dy + row * shape.outputs + first, shape.outputs, depth, count, kStrip, strips);
    for (size_t panel = first_panel; panel < last_panel; ++panel) {
      for (size_t o = 0; o < count; o += kStrip)
        add_products(depth, strips + o * depth, packed + row * width + panel * kPanel * depth,
                     {sums.from + o * sums.row + (panel - first_panel) * kPanel, sums.row});
    }
  }
}

void weight_gradient_f32(const WeightGradientShape& shape, const float* dy, const float* packed, size_t first,
                         size_t last, float* dw) {
  const auto panels = parts(shape.inputs, kPanel), sums_row = std::min(panels, kBlockPanels) * kPanel;
  std::vector<float> strips(kBlockStrips * kStrip * kDepth), sums(kBlockStrips * kStrip * sums_row);
  for (size_t strip = first; strip < last; strip += kBlockStrips) {
    const auto first_output = strip * kStrip, past = std::min(last, strip + kBlockStrips) * kStrip;
    const auto count = std::min(past, shape.outputs) - first_output;
    for (size_t panel = 0; panel < panels; panel += kBlockPanels) {
      const auto column = panel * kPanel;
      std::fill(sums.begin(), sums.end(), 0.0F);
      sum_block(shape, dy, packed, first_output, count, panel, std::min(panels, panel + kBlockPanels), strips.data(),
                {sums.data(), sums_row});
      for (size_t o = 0; o < count; ++o)
        std::copy_n(sums.data() + o * sums_row, std::min(sums_row, shape.inputs - column),
                    dw + (first_output + o) * shape.inputs + column);
    }
  }
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(pack_inputs_f32);
HWY_EXPORT(weight_gradient_f32);

size_t WeightGradientShape::packing_tasks() const { return parts(rows, kDepth); }
size_t WeightGradientShape::strips() const { return parts(outputs, kStrip); }
size_t WeightGradientShape::packed_size() const { return rows * parts(inputs, kPanel) * kPanel; }

void pack_inputs(const WeightGradientShape& shape, const float* x, size_t first, size_t last, float* packed) {
  HWY_DYNAMIC_DISPATCH(pack_inputs_f32)(shape, x, first, last, packed);
}

void weight_gradient(const WeightGradientShape& shape, const float* dy, const float* packed, size_t first, size_t last,
                     float* dw) {
  HWY_DYNAMIC_DISPATCH(weight_gradient_f32)(shape, dy, packed, first, last, dw);
}

}  // namespace blockzoo::rows
#endif
