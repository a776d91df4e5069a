#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// y = cap tanh(x / cap), element by element.
/// Precision: float32 or wider by the fast kernel, which rounds once; by the formula that of x.
Tensor soft_cap(const Tensor& x, double cap);

}  // namespace blockzoo
