#pragma once

#include "blockzoo/nn/norm/base.h"

namespace blockzoo {

/// Layer norm: y = g * (x - mean(x)) / sqrt(var(x) + eps) + b, with the variance over D (not D - 1).
/// Source: Ba, Kiros and Hinton 2016, arXiv:1607.06450.
struct LayerNormConfig {
  using Impl = class LayerNormImpl;
  static constexpr std::string_view kind = "layer_norm";
  static constexpr std::string_view summary = "y = g * (x - mean(x)) / sqrt(var(x) + eps) + b";
  static constexpr std::string_view source = "Ba, Kiros and Hinton 2016, arXiv:1607.06450";

  double eps = 1e-5;
  bool gain = true;
  bool bias = true;
  bool unit_offset = false;

  static void fields(auto& self, auto& visit) {
    visit("eps", self.eps, positive, "added inside the root");
    visit("gain", self.gain, "learn g; off means g = 1");
    visit("bias", self.bias, "learn b; off means b = 0");
    visit("unit_offset", self.unit_offset, "store g - 1, as Nemotron-4 does (arXiv:2402.16819)");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.gain || !self.unit_offset, "unit_offset",
           "has no effect when gain is off; set gain: true or leave it out");
  }
};

/// Shapes:     x [..., D] -> y [..., D].
/// Parameters: gain (starts at one; at zero with unit_offset) and bias (starts at zero), the given shape; each absent
///             when off.
/// Precision:  mean and variance are taken in float32 or wider; y has x's dtype.
class LayerNormImpl final : public NormImpl {
 public:
  LayerNormImpl(const LayerNormConfig& config, at::IntArrayRef shape);
  Tensor forward(const Tensor& x) override;

 private:
  const LayerNormConfig config_;
  const int64_t width_;
  Tensor gain_;
  Tensor bias_;
};

}  // namespace blockzoo
