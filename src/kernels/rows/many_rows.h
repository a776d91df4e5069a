#pragma once

#include <cstddef>

namespace blockzoo::rows {

/// Y [rows, outputs] = X [rows, inputs] M for a matrix M [inputs, outputs], float32, X and Y without gaps. What a row
/// gives does not depend on the rows beside it, nor on what the tasks are split into.
struct ManyRowsShape {
  size_t rows = 0, inputs = 0, outputs = 0;

  size_t panels() const;       // tasks of pack_matrix()
  size_t packed_size() const;  // numbers that it writes
  size_t tiles() const;        // tasks of many_rows()
};

/// M as it lies in memory: row i, column o at from[i * row + o * column], where either stride is one. A linear map's
/// weight [outputs, inputs] is M for its outputs with `column` = inputs, and for its inputs' gradients with `row` =
/// inputs.
template <class T>
struct MatrixOf {
  const T* from;
  size_t row, column;
};

/// M as many_rows() reads it; the tasks first to last.
void pack_matrix(const ManyRowsShape& shape, const MatrixOf<float>& matrix, size_t first, size_t last, float* packed);

/// The tasks first to last of Y, to which bias [outputs] is added where it is not null.
void many_rows(const ManyRowsShape& shape, const float* x, const float* packed, const float* bias, size_t first,
               size_t last, float* y);

}  // namespace blockzoo::rows
