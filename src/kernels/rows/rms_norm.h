#pragma once

#include "kernels/rows/element.h"
#include "kernels/rows/norm_shape.h"

namespace blockzoo::rows {

/// y = gain * x * s with s = 1 / sqrt(mean(x^2) + eps), which goes to inverse [rows] or, null, nowhere. Null gain means
/// ones.
void rms_norm(const NormShape& shape, const float* x, const float* gain, float* y, float* inverse);
void rms_norm(const NormShape& shape, const Bf16* x, const float* gain, Bf16* y, float* inverse);

/// dx = s (gain dy) - x s^3 mean(gain dy x), and dgain += dy x s, which must be there when gain is. The first of the
/// rows must have gain row 0.
void rms_norm_backward(const NormShape& shape, const float* x, const float* gain, const float* inverse, const float* dy,
                       float* dx, float* dgain);
void rms_norm_backward(const NormShape& shape, const Bf16* x, const float* gain, const float* inverse, const Bf16* dy,
                       Bf16* dx, float* dgain);

}  // namespace blockzoo::rows
