#pragma once

#include "kernels/rows/element.h"
#include "kernels/rows/norm_shape.h"

namespace blockzoo::rows {

/// y = gain * z + bias with z = (x - m) s, m = mean(x), s = 1 / sqrt(mean((x - m)^2) + eps); m and s go to mean and
/// inverse [rows] where these are not null. Null gain means ones, null bias zeros; bias has gain's shape.
void layer_norm(const NormShape& shape, const float* x, const float* gain, const float* bias, float* y, float* mean,
                float* inverse);
void layer_norm(const NormShape& shape, const Bf16* x, const float* gain, const float* bias, Bf16* y, float* mean,
                float* inverse);

/// dx = s (gain dy - mean(gain dy) - z mean(gain dy z)), dgain += dy z and dbias += dy where they are not null. The
/// first of the rows must have gain row 0.
void layer_norm_backward(const NormShape& shape, const float* x, const float* gain, const float* mean,
                         const float* inverse, const float* dy, float* dx, float* dgain, float* dbias);
void layer_norm_backward(const NormShape& shape, const Bf16* x, const float* gain, const float* mean,
                         const float* inverse, const Bf16* dy, Bf16* dx, float* dgain, float* dbias);

}  // namespace blockzoo::rows
