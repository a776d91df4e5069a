#pragma once

#include "blockzoo/nn/norm/base.h"

namespace blockzoo {

/// Dynamic tanh, a stand-in for a norm that takes no statistics: y = g * tanh(alpha * x) + b.
/// Source: Zhu, Chen, He, LeCun and Liu 2025, arXiv:2503.10622.
struct DynamicTanhConfig {
  using Impl = class DynamicTanhImpl;
  static constexpr std::string_view kind = "dynamic_tanh";
  static constexpr std::string_view summary = "y = g * tanh(alpha * x) + b, one learned alpha";
  static constexpr std::string_view source = "Zhu, Chen, He, LeCun and Liu 2025, arXiv:2503.10622";

  double alpha = 0.5;
  bool bias = true;

  static void fields(auto& self, auto& visit) {
    visit("alpha", self.alpha, positive, "start value of alpha");
    visit("bias", self.bias, "learn b; off means b = 0");
  }
};

/// Shapes:     x [..., D] -> y [..., D].
/// Parameters: alpha [1] (for a shape {H, K}: [H, 1]), starts at the given value; gain, the given shape, starts at one;
///             bias, the given shape, starts at zero, absent when off.
/// Precision:  computed in float32 or wider; y has x's dtype.
class DynamicTanhImpl final : public NormImpl {
 public:
  DynamicTanhImpl(const DynamicTanhConfig& config, at::IntArrayRef shape);
  Tensor forward(const Tensor& x) override;

 private:
  const int64_t width_;
  Tensor alpha_;
  Tensor gain_;
  Tensor bias_;
};

}  // namespace blockzoo
