#pragma once

#include "blockzoo/nn/norm/base.h"

namespace blockzoo {

/// Scale norm: y = g * x / max(|x|, eps), with |x| the Euclidean length and one learned number g.
/// Source: Nguyen and Salazar 2019, arXiv:1910.05895.
struct ScaleNormConfig {
  using Impl = class ScaleNormImpl;
  static constexpr std::string_view kind = "scale_norm";
  static constexpr std::string_view summary = "y = g * x / max(|x|, eps), one learned g";
  static constexpr std::string_view source = "Nguyen and Salazar 2019, arXiv:1910.05895";

  double eps = 1e-5;

  static void fields(auto& self, auto& visit) { visit("eps", self.eps, positive, "least length that is divided by"); }
};

/// Shapes:     x [..., D] -> y [..., D].
/// Parameters: gain [1] (for a shape {H, K}: [H, 1]), starts at sqrt(D).
/// Precision:  the length is taken in float32 or wider; y has x's dtype.
class ScaleNormImpl final : public NormImpl {
 public:
  ScaleNormImpl(const ScaleNormConfig& config, at::IntArrayRef shape);
  Tensor forward(const Tensor& x) override;

 private:
  const double eps_;
  const int64_t width_;
  Tensor gain_;
};

}  // namespace blockzoo
