#pragma once

#include "kernels/rows/element.h"
#include "kernels/rows/many_rows.h"

namespace blockzoo::rows {

/// Y as many_rows.h has it for bfloat16 X and M, with products of pairs, sums in float32 and Y rounded once.
struct ManyRowsInPairs {
  size_t (*panels)(const ManyRowsShape& shape);       // tasks of pack_matrix()
  size_t (*packed_size)(const ManyRowsShape& shape);  // pairs that it writes
  void (*pack_matrix)(const ManyRowsShape& shape, const MatrixOf<Bf16>& matrix, size_t first, size_t last,
                      Bf16Pair* packed);
  size_t (*tiles)(const ManyRowsShape& shape);  // tasks of many_rows()
  void (*many_rows)(const ManyRowsShape& shape, const Bf16* x, const Bf16Pair* packed, const Bf16* bias, size_t first,
                    size_t last, Bf16* y);
};

/// Null where the processor does not multiply pairs.
const ManyRowsInPairs* many_rows_in_pairs();

}  // namespace blockzoo::rows
