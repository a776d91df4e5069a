#pragma once

#include "blockzoo/nn/ffn/base.h"

namespace blockzoo {

/// Two matrices with an activation between: y = W_down f(W_up x).
/// Source: Vaswani et al. 2017, arXiv:1706.03762.
struct MlpConfig : HiddenWidth {
  using Impl = class MlpImpl;
  static constexpr std::string_view kind = "mlp";
  static constexpr std::string_view summary = "y = W_down f(W_up x)";
  static constexpr std::string_view source = "Vaswani et al. 2017, arXiv:1706.03762";
  static constexpr double default_ratio = 4;

  Activation activation = Activation::kGelu;
  bool bias = false;

  static void fields(auto& self, auto& visit) {
    visit("activation", self.activation, "f");
    HiddenWidth::fields(self, visit);
    visit("bias", self.bias, "both matrices have a bias");
  }
};

/// Parameters: up [F, D], down [D, F]; with biases [F], [D] when on.
class MlpImpl final : public FfnImpl {
 public:
  MlpImpl(const MlpConfig& config, const Dims& dims);
  Tensor forward(const Tensor& x) override;

 private:
  const Activation activation_;
  Linear up_, down_;
};

}  // namespace blockzoo
