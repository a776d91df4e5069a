#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

// Products of bfloat16 matrices for processors without instructions for them: widened, which loses nothing, multiplied
// as float32, and rounded once.

/// x W^T + b of x [..., in], W [out, in], b [out]: [..., out].
Tensor widened_linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// dy W of dy [..., out], W [out, in]: [..., in].
Tensor widened_input_gradient(const Tensor& dy, const Tensor& weight);

/// dy^T x of matrices [rows, out] and [rows, in]: [out, in], float32. `packed` as in weight_gradient_by().
Tensor widened_weight_gradient(const Tensor& dy, const Tensor& x, Tensor& packed);

/// a b of a [N, rows, inner], b [N, inner, columns], with gradients.
Tensor widened_batched_matmul(const Tensor& a, const Tensor& b);

/// Whether widened_linear() is the way for all three: on the CPU, without gradients, where the processor is one of
/// those.
bool widened_linear_fits(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// Whether widened_batched_matmul() is the way where a and b are bfloat16, or autocast makes them so.
bool widened_batched_fits(const Tensor& a, const Tensor& b);

}  // namespace blockzoo
