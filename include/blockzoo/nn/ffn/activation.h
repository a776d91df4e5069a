#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Element-wise functions of the feed-forward sublayer.
enum class Activation { kRelu, kGelu, kGeluTanh, kSilu, kReluSquared, kElu, kSelu, kSigmoid, kIdentity };

constexpr auto names(Activation) {
  using enum Activation;
  return std::to_array<std::pair<Activation, std::string_view>>({{kRelu, "relu"},
                                                                 {kGelu, "gelu"},
                                                                 {kGeluTanh, "gelu_tanh"},
                                                                 {kSilu, "silu"},
                                                                 {kReluSquared, "relu_squared"},
                                                                 {kElu, "elu"},
                                                                 {kSelu, "selu"},
                                                                 {kSigmoid, "sigmoid"},
                                                                 {kIdentity, "identity"}});
}

/// relu          max(x, 0)                                              Nair and Hinton 2010
/// gelu          x * Phi(x), Phi by erf                                 Hendrycks and Gimpel 2016, arXiv:1606.08415
/// gelu_tanh     0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))        the same paper's approximation
/// silu          x * sigmoid(x)                                         Elfwing et al. 2017, arXiv:1702.03118
/// relu_squared  max(x, 0)^2                                            So et al. 2021, arXiv:2109.08668
/// elu           x where x > 0, else exp(x) - 1                         Clevert et al. 2015, arXiv:1511.07289
/// selu          1.0507 (x where x > 0, else 1.6733 (exp(x) - 1))       Klambauer et al. 2017, arXiv:1706.02515
/// sigmoid       1 / (1 + exp(-x))
/// identity      x
Tensor activate(Activation activation, const Tensor& x);

}  // namespace blockzoo
