#pragma once

#include <string>

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Who multiplies float32 matrices for a linear map y = x W^T + b: oneDNN, or the BLAS that LibTorch was built with.
struct Products {
  bool outputs_by_onednn = false;           // y, and dx = dy W
  bool weight_gradients_by_onednn = false;  // dW = dy^T x

  /// "products by oneDNN, their weight gradients by MKL".
  std::string words() const;
};

/// The choice for a processor. MKL takes its AVX2 code on AMD, where oneDNN takes AVX-512: twice as fast where the
/// processor computes 512 bits at once (family 26, Zen 5, and later), a few percent faster before. oneDNN copies the
/// transposed operands of weight gradients, which only that factor pays for.
Products products_for(bool amd, int family, bool mkl);

/// The choice for this processor and this LibTorch: decided once, by rule and not by timing, so that a run that is
/// repeated or resumed gives the same bits.
const Products& products();

/// a b^T of float32 matrices a [..., K], b [N, K] (any strides) plus bias [N] where defined, by oneDNN, through the
/// operator that LibTorch registers for its compiler. Only where onednn_is_there().
Tensor onednn_linear(const Tensor& a, const Tensor& b, const Tensor& bias);
bool onednn_is_there();

/// dy^T x of [rows, out] and [rows, in], by oneDNN: [out, in].
Tensor onednn_weight_gradient(const Tensor& dy, const Tensor& x);

}  // namespace blockzoo
