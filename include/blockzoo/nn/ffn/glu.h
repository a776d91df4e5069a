#pragma once

#include "blockzoo/nn/ffn/base.h"

namespace blockzoo {

/// Gated linear unit: y = W_down (f(W_gate x) * W_up x). The activation names the member of the family: sigmoid GLU,
/// identity bilinear, relu ReGLU, gelu GeGLU, silu SwiGLU.
/// Source: Shazeer 2020, arXiv:2002.05202; GLU: Dauphin et al. 2016, arXiv:1612.08083.
struct GluConfig : HiddenWidth {
  using Impl = class GluImpl;
  static constexpr std::string_view kind = "glu";
  static constexpr std::string_view summary =
      "y = W_down (f(W_gate x) * W_up x); silu: SwiGLU, gelu: GeGLU, relu: ReGLU";
  static constexpr std::string_view source = "Shazeer 2020, arXiv:2002.05202";
  static constexpr double default_ratio = 8.0 / 3.0;

  Activation activation = Activation::kSilu;
  bool bias = false;

  static void fields(auto& self, auto& visit) {
    visit("activation", self.activation, "f, on the gate");
    HiddenWidth::fields(self, visit);
    visit("bias", self.bias, "all three matrices have a bias");
  }
};

/// Parameters: gate [F, D], up [F, D], down [D, F]; with biases [F], [F], [D] when on.
class GluImpl final : public FfnImpl {
 public:
  GluImpl(const GluConfig& config, const Dims& dims);
  Tensor forward(const Tensor& x) override;

 private:
  const Activation activation_;
  Linear gate_, up_, down_;
};

}  // namespace blockzoo
