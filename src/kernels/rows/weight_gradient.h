#pragma once

#include <cstddef>

namespace blockzoo::rows {

/// dW [outputs, inputs] = dY^T X for dY [rows, outputs] and X [rows, inputs], float32 without gaps. Each number's sum
/// runs over the rows in one order, whatever the tasks are split into.
struct WeightGradientShape {
  size_t rows = 0, outputs = 0, inputs = 0;

  size_t packing_tasks() const;  // of pack_inputs()
  size_t strips() const;         // tasks of weight_gradient(): a few rows of dW each
  size_t packed_size() const;    // numbers that pack_inputs() writes
};

/// X as weight_gradient() reads it; the tasks first to last.
void pack_inputs(const WeightGradientShape& shape, const float* x, size_t first, size_t last, float* packed);

/// The rows of dW of the strips first to last.
void weight_gradient(const WeightGradientShape& shape, const float* dy, const float* packed, size_t first, size_t last,
                     float* dw);

}  // namespace blockzoo::rows
