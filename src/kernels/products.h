#pragma once

#include <string>

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Who multiplies float32 matrices: the BLAS that LibTorch was built with, oneDNN, or our own rows.
enum class Multiplier { kBlas, kOnednn, kRows };

/// "MKL" or "BLAS", "oneDNN", "rows".
std::string name_of(Multiplier multiplier);

/// Who computes what of a linear map y = x W^T + b.
struct Products {
  Multiplier outputs = Multiplier::kBlas;           // y, and dx = dy W
  Multiplier weight_gradients = Multiplier::kBlas;  // dW = dy^T x

  /// "products by oneDNN, their weight gradients by rows".
  std::string words() const;
};

/// What the rules go by.
struct ProcessorKind {
  bool x86 = false;
  bool amd = false;
  bool pairs = false;    // rows::multiplies_pairs()
  bool at_once = false;  // 512 bits at once, where AMD's first processors with AVX-512 (Zen 4) compute two halves
  bool tiles = false;    // rows::multiplies_tiles()

  bool in_halves() const { return amd && pairs && !at_once; }
};

/// The choice for a processor. MKL takes its AVX2 code on AMD, where oneDNN takes AVX-512: twice as fast where the
/// processor computes 512 bits at once (Zen 5), a few percent faster before, where own rows are faster than both. Both
/// copy the transposed operands of weight gradients, which own rows pack as they come.
Products products_for(const ProcessorKind& processor, bool mkl);

/// The choice for this processor and this LibTorch: decided once, by rule and not by timing, so that a run that is
/// repeated or resumed gives the same bits.
const Products& products();

/// a b^T of float32 matrices a [..., K], b [N, K] (any strides) plus bias [N] where defined. oneDNN is asked through
/// the operator that LibTorch registers for its compiler: only where onednn_is_there().
Tensor linear_by(Multiplier multiplier, const Tensor& a, const Tensor& b, const Tensor& bias);
bool onednn_is_there();

/// The same by products().outputs.
Tensor float_linear(const Tensor& a, const Tensor& b, const Tensor& bias);

/// x [..., D] as [rows, D].
Tensor as_matrix(const Tensor& x);

/// dy^T x of float32 matrices [rows, out] and [rows, in]: [out, in]. Our own rows read x as they pack it: `packed`,
/// which is filled where it is undefined.
Tensor weight_gradient_by(Multiplier multiplier, const Tensor& dy, const Tensor& x, Tensor& packed);

/// Who computes a linear map of bfloat16 numbers.
enum class Bfloat16Products {
  kLibTorch,  // LibTorch, with the processor's instructions for them
  kPairs,     // the same, but dW is summed in float32 by our own rows, which multiply pairs
  kRows,      // our own rows
  kWidened,   // whoever multiplies float32, since the processor has no instructions for bfloat16
};

/// Where there are tiles, LibTorch's code for them is faster than rows. What x86 without pairs gets from LibTorch is a
/// third as fast as float32's products with AVX-512, and a sixth to a hundredth with AVX2; what other processors
/// get was not measured.
Bfloat16Products bfloat16_products_for(const ProcessorKind& processor);
Bfloat16Products bfloat16_products();

/// "bfloat16 by LibTorch", "bfloat16 by LibTorch, its weight gradients by rows", "bfloat16 by rows", "bfloat16 widened
/// to float32".
std::string words_of(Bfloat16Products products);

}  // namespace blockzoo
