#pragma once

#include "kernels/rows/element.h"
#include "kernels/rows/norm_shape.h"

namespace blockzoo::rows {

/// y = gain * tanh(alpha x) + bias, one alpha for each gain row; null bias means zeros.
void dynamic_tanh(const NormShape& shape, const float* x, const float* alpha, const float* gain, const float* bias,
                  float* y);
void dynamic_tanh(const NormShape& shape, const Bf16* x, const float* alpha, const float* gain, const float* bias,
                  Bf16* y);

/// Of t = tanh(alpha x) and u = gain dy (1 - t^2): dx = alpha u, dalpha += sum(u x), dgain += dy t, and dbias += dy
/// where it is not null. The first of the rows must have gain row 0.
void dynamic_tanh_backward(const NormShape& shape, const float* x, const float* alpha, const float* gain,
                           const float* dy, float* dx, float* dalpha, float* dgain, float* dbias);
void dynamic_tanh_backward(const NormShape& shape, const Bf16* x, const float* alpha, const float* gain, const Bf16* dy,
                           Bf16* dx, float* dalpha, float* dgain, float* dbias);

}  // namespace blockzoo::rows
