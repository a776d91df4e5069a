#pragma once

#include <cstddef>

#include "blockzoo/nn/ffn/activation.h"
#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// y = f(gate) * up for `count` elements; without the product where `up` is null.
void activate(Activation f, size_t count, const float* gate, const float* up, float* y);
void activate(Activation f, size_t count, const Bf16* gate, const Bf16* up, Bf16* y);

/// dgate = dy up f'(gate) and dup = dy f(gate); dup is null where `up` is.
void activate_backward(Activation f, size_t count, const float* gate, const float* up, const float* dy, float* dgate,
                       float* dup);
void activate_backward(Activation f, size_t count, const Bf16* gate, const Bf16* up, const Bf16* dy, Bf16* dgate,
                       Bf16* dup);

}  // namespace blockzoo::rows
