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

// Blocks after Goto and van de Geijn (2008, Anatomy of High-Performance Matrix Multiplication): a panel of X is read
// again for every strip of dY, which stay in the second cache while all panels of X go by. Narrow strips divide the
// usual widths evenly between threads.
constexpr size_t kStrip = 8;         // columns of dY side by side, rows of dW
constexpr size_t kDepth = 512;       // rows of X and dY taken at once
constexpr size_t kBlockStrips = 18;  // strips taken at once
constexpr size_t kAhead = 16;        // rows that memory is asked for before they are packed
constexpr size_t kLine = 16;         // numbers that it gives at once

inline size_t parts(size_t count, size_t size) { return (count + size - 1) / size; }

}  // namespace blockzoo::rows
#endif

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

// What the registers hold: of 32, sums of 8 rows by 2 vectors; of AVX2's 16, 4 by 3.
constexpr size_t kRows = HWY_TARGET == HWY_AVX3 ? kStrip : kStrip / 2;  // of dW
constexpr size_t kVectors = HWY_TARGET == HWY_AVX2 ? 3 : 2;
constexpr size_t kPanel = HWY_TARGET == HWY_AVX2 ? 24 : 32;  // columns of X side by side

size_t packed_width(size_t inputs) { return parts(inputs, kPanel) * kPanel; }

/// `width` columns of some rows, panel by panel: [panels, depth, kWidth], filled up with zeros.
template <size_t kWidth>
HWY_INLINE void pack_columns(const float* from, size_t row, size_t depth, size_t width, float* to) {
  for (size_t p = 0; p < depth; ++p) {
    const float* own = from + p * row;
    for (size_t i = 0; i < width; i += kLine) __builtin_prefetch(own + kAhead * row + i, 0, 2);
    float* panel = to + p * kWidth;
    size_t first = 0;
    for (; first + kWidth <= width; first += kWidth, panel += kWidth * depth) std::copy_n(own + first, kWidth, panel);
    if (first < width) std::fill(std::copy(own + first, own + width, panel), panel + kWidth, 0.0F);
  }
}

void pack_inputs_f32(const WeightGradientShape& shape, const float* x, size_t first, size_t last, float* packed) {
  const auto width = packed_width(shape.inputs);
  for (size_t task = first; task < last; ++task) {
    const auto row = task * kDepth, depth = std::min(kDepth, shape.rows - row);
    pack_columns<kPanel>(x + row * shape.inputs, shape.inputs, depth, shape.inputs, packed + row * width);
  }
}

/// kStrip rows and kPanel columns of dW, or what is added to them.
HWY_INLINE void whole_tile(size_t depth, const float* strip, const float* panel, Dense<float> dw, bool add) {
  for (size_t i = 0; i < kPanel; i += kVectors * lanes()) {
    for (size_t r = 0; r < kStrip; r += kRows)
      product_block<kRows, kVectors>({0, 0, 0, depth}, {strip + r, 1, kStrip}, {panel + i, kPanel},
                                     {dw.from + r * dw.row + i, dw.row}, add);
  }
}

/// The same where dW ends, `rows` by `columns` of them.
HWY_INLINE void last_tile(size_t depth, const float* strip, const float* panel, Dense<float> dw, bool add, size_t rows,
                          size_t columns) {
  HWY_ALIGN float tile[kStrip * kPanel] = {};
  for (size_t r = 0; add && r < rows; ++r) std::copy_n(dw.from + r * dw.row, columns, tile + r * kPanel);
  whole_tile(depth, strip, panel, {tile, kPanel}, add);
  for (size_t r = 0; r < rows; ++r) std::copy_n(tile + r * kPanel, columns, dw.from + r * dw.row);
}

/// Rows `first` to `last` of dW.
HWY_INLINE void sum_block(const WeightGradientShape& shape, const float* dy, const float* packed, size_t first,
                          size_t last, float* strips, float* dw) {
  const auto width = packed_width(shape.inputs);
  for (size_t row = 0; row < shape.rows; row += kDepth) {
    const auto depth = std::min(kDepth, shape.rows - row);
    pack_columns<kStrip>(dy + row * shape.outputs + first, shape.outputs, depth, last - first, strips);
    for (size_t i = 0; i < shape.inputs; i += kPanel) {
      const auto columns = std::min(kPanel, shape.inputs - i);
      const float* panel = packed + row * width + i * depth;
      for (size_t o = first; o < last; o += kStrip) {
        const auto rows = std::min(kStrip, last - o);
        const float* strip = strips + (o - first) * depth;
        const Dense<float> tile{dw + o * shape.inputs + i, shape.inputs};
        if (rows == kStrip && columns == kPanel)
          whole_tile(depth, strip, panel, tile, row > 0);
        else
          last_tile(depth, strip, panel, tile, row > 0, rows, columns);
      }
    }
  }
}

void weight_gradient_f32(const WeightGradientShape& shape, const float* dy, const float* packed, size_t first,
                         size_t last, float* dw) {
  const auto blocks = parts(last - first, kBlockStrips), of_a_block = parts(last - first, std::max<size_t>(blocks, 1));
  std::vector<float> strips(of_a_block * kStrip * kDepth);
  for (size_t strip = first; strip < last; strip += of_a_block)
    sum_block(shape, dy, packed, strip * kStrip, std::min(std::min(last, strip + of_a_block) * kStrip, shape.outputs),
              strips.data(), dw);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(packed_width);
HWY_EXPORT(pack_inputs_f32);
HWY_EXPORT(weight_gradient_f32);

size_t WeightGradientShape::packing_tasks() const { return parts(rows, kDepth); }
size_t WeightGradientShape::strips() const { return parts(outputs, kStrip); }
size_t WeightGradientShape::packed_size() const { return rows * HWY_DYNAMIC_DISPATCH(packed_width)(inputs); }

void pack_inputs(const WeightGradientShape& shape, const float* x, size_t first, size_t last, float* packed) {
  HWY_DYNAMIC_DISPATCH(pack_inputs_f32)(shape, x, first, last, packed);
}

void weight_gradient(const WeightGradientShape& shape, const float* dy, const float* packed, size_t first, size_t last,
                     float* dw) {
  HWY_DYNAMIC_DISPATCH(weight_gradient_f32)(shape, dy, packed, first, last, dw);
}

}  // namespace blockzoo::rows
#endif
