#pragma once

#include <vector>

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Finds the largest outputs of y = W x + b without reading all of W: exactly, by a copy of W in 8 bits. Row v is
/// f_v q_v + r_v with whole numbers q_v from -127 to 127. Since |r_v . x| <= |r_v| |x|, a row that is at most
/// f_v q_v . x + b_v + |r_v| |x| cannot be the largest where another is at least more than that. Those that are left,
/// a few in a thousand, are computed as linear_map() has them. The bounds have room for sums in float32 and for y's
/// rounding, so that outputs which are equal only because they are rounded are found together.
class LargestOutputs {
 public:
  /// Whether fast kernels take W [V, D] and b [V] or undefined, and W is large enough to be worth it.
  static bool fits(const Tensor& weight, const Tensor& bias);

  /// W [V, D], b [V] or undefined, without gradients. Both are kept and must not change.
  LargestOutputs(const Tensor& weight, const Tensor& bias);

  /// Some outputs: values [n] of those with these numbers, which rise.
  struct Some {
    std::vector<int64_t> numbers;
    Tensor values;
  };

  /// x [..., D], one vector of W's type -> what linear_map(x, W, b) gives for each output that may be the largest. All
  /// outputs where x, much of W or one of these is not finite.
  Some operator()(const Tensor& x) const;

  /// How many bytes fewer a call reads than all of W.
  int64_t saved_bytes() const;

 private:
  Some all(const Tensor& x) const;

  Tensor weight_, bias_;
  Tensor numbers_;                        // [V, D, filled up], int8
  Tensor factors_, errors_, float_bias_;  // [V]
};

}  // namespace blockzoo
