#pragma once

#include "kernels/rows/element.h"
#include "kernels/rows/weight_gradient.h"

namespace blockzoo::rows {

/// dW as weight_gradient.h has it for bfloat16 dY and X, with products of pairs and sums in float32.
struct WeightGradientInPairs {
  size_t (*packing_tasks)(const WeightGradientShape& shape);
  size_t (*packed_size)(const WeightGradientShape& shape);  // pairs that pack_inputs() writes
  void (*pack_inputs)(const WeightGradientShape& shape, const Bf16* x, size_t first, size_t last, Bf16Pair* packed);
  size_t (*tasks)(const WeightGradientShape& shape);  // of weight_gradient(): a few rows of dW each
  void (*weight_gradient)(const WeightGradientShape& shape, const Bf16* dy, const Bf16Pair* packed, size_t first,
                          size_t last, float* dw);
};

/// Null where the processor does not multiply pairs.
const WeightGradientInPairs* weight_gradient_in_pairs();

}  // namespace blockzoo::rows
