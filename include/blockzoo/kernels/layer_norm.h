#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// y = gain * (x - mean(x)) / sqrt(var(x) + eps) + bias over the last dimension, the variance over D.
/// Shapes:    x [..., D]; gain and bias each undefined or of one shape, [D], or [H, D] for x [..., H, D] -> y, as x.
/// Precision: mean and variance are taken in float32 or wider; y has x's dtype.
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps);

}  // namespace blockzoo
