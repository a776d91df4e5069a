#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// a b^T for a [..., K] and b [N, K] (any strides), plus bias [N] where defined, by our own rows: float32, or bfloat16
/// where rows::multiplies_pairs(), with sums in float32 that are rounded once. Neither a nor b may be empty.
Tensor linear_by_rows(const Tensor& a, const Tensor& b, const Tensor& bias);

}  // namespace blockzoo
