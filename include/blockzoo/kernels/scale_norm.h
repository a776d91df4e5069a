#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// y = gain * x / max(|x|, eps) over the last dimension, |x| the Euclidean length.
/// Shapes:    x [..., D]; gain [1], or [H, 1] for x [..., H, D] -> y, as x.
/// Precision: the length is taken in float32 or wider; y has x's dtype.
Tensor scale_norm(const Tensor& x, const Tensor& gain, double eps);

}  // namespace blockzoo
