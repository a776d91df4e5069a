#pragma once

#include "kernels/rows/element.h"
#include "kernels/rows/norm_shape.h"

namespace blockzoo::rows {

/// y = gain x / l with l = max(|x|, eps); one gain for each gain row.
void scale_norm(const NormShape& shape, const float* x, const float* gain, float* y);
void scale_norm(const NormShape& shape, const Bf16* x, const float* gain, Bf16* y);

/// dx = dy gain / l - x gain / l^3 sum(dy x), the last not where |x| is below eps; dgain += sum(dy x) / l. The first
/// of the rows must have gain row 0.
void scale_norm_backward(const NormShape& shape, const float* x, const float* gain, const float* dy, float* dx,
                         float* dgain);
void scale_norm_backward(const NormShape& shape, const Bf16* x, const float* gain, const Bf16* dy, Bf16* dx,
                         float* dgain);

}  // namespace blockzoo::rows
