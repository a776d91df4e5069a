#pragma once

#include "kernels/rows/few_rows.h"

namespace blockzoo::rows {

/// few_rows() for 9 to 16 rows of an even number of bfloat16, by products of pairs.
using FewRowsInPairs = void (*)(const FewRowsShape& shape, const Bf16* x, const Bf16* w, const Bf16* bias, size_t first,
                                size_t last, Bf16* y);

/// Null where the processor does not multiply pairs.
FewRowsInPairs few_rows_in_pairs();

}  // namespace blockzoo::rows
