#pragma once

#include "blockzoo/nn/ffn/activation.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

/// f(x), element by element.
Tensor activate(Activation f, const Tensor& x);

/// f(gate) * up, both of one shape.
Tensor gated(Activation f, const Tensor& gate, const Tensor& up);

}  // namespace blockzoo
