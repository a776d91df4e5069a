#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// y = gain * tanh(alpha * x) + bias, element by element.
/// Shapes:    x [..., D]; alpha [1], gain [D] and bias [D] or undefined; or [H, 1], [H, D] and [H, D] for x [..., H, D]
///            -> y, as x.
/// Precision: float32 or wider; y has x's dtype.
Tensor dynamic_tanh(const Tensor& x, const Tensor& alpha, const Tensor& gain, const Tensor& bias);

}  // namespace blockzoo
