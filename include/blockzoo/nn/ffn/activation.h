#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "blockzoo/core/names.h"

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

/// Formula and source of each, for lists and documents.
constexpr ValueNote about(Activation activation) {
  using enum Activation;
  switch (activation) {
    case kRelu:
      return {"max(x, 0)", "Nair and Hinton 2010"};
    case kGelu:
      return {"x * Phi(x), Phi by erf", "Hendrycks and Gimpel 2016, arXiv:1606.08415"};
    case kGeluTanh:
      return {"0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))", "Hendrycks and Gimpel 2016, arXiv:1606.08415"};
    case kSilu:
      return {"x * sigmoid(x)", "Elfwing et al. 2017, arXiv:1702.03118"};
    case kReluSquared:
      return {"max(x, 0)^2", "So et al. 2021, arXiv:2109.08668"};
    case kElu:
      return {"x where x > 0, else exp(x) - 1", "Clevert et al. 2015, arXiv:1511.07289"};
    case kSelu:
      return {"1.0507 (x where x > 0, else 1.6733 (exp(x) - 1))", "Klambauer et al. 2017, arXiv:1706.02515"};
    case kSigmoid:
      return {"1 / (1 + exp(-x))", ""};
    case kIdentity:
      return {"x", ""};
  }
  return {};
}

}  // namespace blockzoo
