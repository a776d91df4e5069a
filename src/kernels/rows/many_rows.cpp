#include "kernels/rows/many_rows.h"

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/many_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/many_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

size_t panel_count(const ManyRowsShape& shape) { return panels_of(shape); }
size_t packed_numbers(const ManyRowsShape& shape) { return panels_of(shape) * kPanelWidth * shape.inputs; }
size_t tile_count(const ManyRowsShape& shape) { return parts_of(shape.rows, kBlockRows) * panels_of(shape); }

void pack_matrix_f32(const ManyRowsShape& shape, const MatrixOf<float>& matrix, size_t first, size_t last,
                     float* packed) {
  for (size_t task = first; task < last; ++task) {
    const auto column = task * kPanelWidth, width = std::min(kPanelWidth, shape.outputs - column);
    const float* from = matrix.from + column * matrix.column;
    float* panel = packed + column * shape.inputs;
    if (matrix.row == 1) {
      turn_panel([&](size_t o) { return from + o * matrix.column; }, shape.inputs, width, panel);
      continue;
    }
    for (size_t i = 0; i < shape.inputs; ++i, panel += kPanelWidth)
      std::fill(std::copy_n(from + i * matrix.row, width, panel), panel + kPanelWidth, 0.0F);
  }
}

void many_rows_f32(const ManyRowsShape& shape, const float* x, const float* packed, const float* bias, size_t first,
                   size_t last, float* y) {
  const auto rows_of = [&](size_t row, size_t) { return Strided{x + row * shape.inputs, shape.inputs, 1}; };
  tiles(shape, shape.inputs, rows_of, packed, bias, first, last, y);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(panel_count);
HWY_EXPORT(packed_numbers);
HWY_EXPORT(tile_count);
HWY_EXPORT(pack_matrix_f32);
HWY_EXPORT(many_rows_f32);

size_t ManyRowsShape::panels() const { return HWY_DYNAMIC_DISPATCH(panel_count)(*this); }
size_t ManyRowsShape::packed_size() const { return HWY_DYNAMIC_DISPATCH(packed_numbers)(*this); }
size_t ManyRowsShape::tiles() const { return HWY_DYNAMIC_DISPATCH(tile_count)(*this); }

void pack_matrix(const ManyRowsShape& shape, const MatrixOf<float>& matrix, size_t first, size_t last, float* packed) {
  HWY_DYNAMIC_DISPATCH(pack_matrix_f32)(shape, matrix, first, last, packed);
}

void many_rows(const ManyRowsShape& shape, const float* x, const float* packed, const float* bias, size_t first,
               size_t last, float* y) {
  HWY_DYNAMIC_DISPATCH(many_rows_f32)(shape, x, packed, bias, first, last, y);
}

}  // namespace blockzoo::rows
#endif
