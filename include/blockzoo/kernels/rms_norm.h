#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// y = gain * x / sqrt(mean(x^2) + eps) over the last dimension.
/// Shapes:    x [..., D]; gain undefined, [D], or [H, D] for x [..., H, D] -> y, as x.
/// Precision: the mean is taken in float32 or wider; y has x's dtype.
Tensor rms_norm(const Tensor& x, const Tensor& gain, double eps);

}  // namespace blockzoo
