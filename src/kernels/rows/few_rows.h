#pragma once

#include <cstddef>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// Rows of x [rows, inputs] times a matrix w [outputs, inputs], none with gaps. What a row gives does not depend on the
/// rows beside it, but on whether they are more than eight, which AVX-512 adds up otherwise.
struct FewRowsShape {
  size_t rows = 0;
  size_t inputs = 0;
  size_t outputs = 0;
};

/// Outputs first to last of y [rows, outputs] = x w^T + bias, sums in float32; bias [outputs] or null. Reads w once for
/// all rows.
void few_rows(const FewRowsShape& shape, const float* x, const float* w, const float* bias, size_t first, size_t last,
              float* y);
void few_rows(const FewRowsShape& shape, const Bf16* x, const Bf16* w, const Bf16* bias, size_t first, size_t last,
              Bf16* y);

}  // namespace blockzoo::rows
