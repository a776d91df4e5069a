#pragma once

#include <cstddef>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// Rows of `width` elements. Row r has the gain row r mod gain_rows of gain [gain_rows, width]; null means ones.
struct RmsNormShape {
  size_t rows = 0;
  size_t width = 0;
  size_t gain_rows = 1;
  float eps = 0;
};

/// y = gain * x * s with s = 1 / sqrt(mean(x^2) + eps), which goes to inverse [rows].
void rms_norm(const RmsNormShape& shape, const float* x, const float* gain, float* y, float* inverse);
void rms_norm(const RmsNormShape& shape, const Bf16* x, const float* gain, Bf16* y, float* inverse);

/// dx = s (gain dy) - x s^3 mean(gain dy x), and dgain += dy x s, which must be there when gain is. The first of the
/// rows must have gain row 0.
void rms_norm_backward(const RmsNormShape& shape, const float* x, const float* gain, const float* inverse,
                       const float* dy, float* dx, float* dgain);
void rms_norm_backward(const RmsNormShape& shape, const Bf16* x, const float* gain, const float* inverse,
                       const Bf16* dy, Bf16* dx, float* dgain);

}  // namespace blockzoo::rows
