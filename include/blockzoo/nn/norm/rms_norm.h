#pragma once

#include "blockzoo/nn/norm/base.h"

namespace blockzoo {

/// Root-mean-square norm: y = g * x / sqrt(mean(x^2) + eps).
/// Source: Zhang and Sennrich 2019, arXiv:1910.07467.
/// Differs from the source: eps stands inside the root, as in every released model.
struct RmsNormConfig {
  using Impl = class RmsNormImpl;
  static constexpr std::string_view kind = "rms_norm";
  static constexpr std::string_view summary = "y = g * x / sqrt(mean(x^2) + eps)";
  static constexpr std::string_view source = "Zhang and Sennrich 2019, arXiv:1910.07467";

  double eps = 1e-6;
  bool gain = true;
  bool unit_offset = false;

  static void fields(auto& self, auto& visit) {
    visit("eps", self.eps, positive, "added inside the root");
    visit("gain", self.gain, "learn g; off means g = 1");
    visit("unit_offset", self.unit_offset, "store g - 1, as Gemma does (arXiv:2403.08295)");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.gain || !self.unit_offset, "unit_offset",
           "has no effect when gain is off; set gain: true or leave it out");
  }
};

/// Shapes:     x [..., D] -> y [..., D].
/// Parameters: gain, the given shape, starts at one (at zero with unit_offset); absent when `gain` is off.
/// Precision:  the mean is taken in float32 or wider; y has x's dtype.
class RmsNormImpl final : public NormImpl {
 public:
  RmsNormImpl(const RmsNormConfig& config, at::IntArrayRef shape);
  Tensor forward(const Tensor& x) override;

 private:
  const RmsNormConfig config_;
  Tensor gain_;
};

}  // namespace blockzoo
