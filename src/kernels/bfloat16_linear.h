#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Whether bfloat16_linear() can stand for linear() under autocast here: to bfloat16 on the CPU, with float32 weights,
/// where bfloat16_products() are not LibTorch's.
bool bfloat16_linear_fits(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// y = x W^T + b as autocast has it: x, W and b rounded to bfloat16, and so is y. Maps of one input share its rounded
/// copy, and dW is a float32 sum, where autocast's is rounded.
Tensor bfloat16_linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// dy^T x of bfloat16 matrices [rows, out] and [rows, in]: [out, in], sums in float32 by our own rows. `packed` is x as
/// they read it, filled where it is undefined. Only where rows::multiplies_pairs().
Tensor weight_gradient_in_pairs(const Tensor& dy, const Tensor& x, Tensor& packed);

}  // namespace blockzoo
