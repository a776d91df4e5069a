#pragma once

#include <cstddef>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// y = cap tanh(x / cap).
void soft_cap(size_t count, float cap, const float* x, float* y);
void soft_cap(size_t count, float cap, const Bf16* x, Bf16* y);

/// dx = dy (1 - (y / cap)^2). dx may be dy.
void soft_cap_backward(size_t count, float cap, const float* y, const float* dy, float* dx);
void soft_cap_backward(size_t count, float cap, const Bf16* y, const Bf16* dy, Bf16* dx);

}  // namespace blockzoo::rows
