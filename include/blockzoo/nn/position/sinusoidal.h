#pragma once

#include "blockzoo/nn/position/base.h"

namespace blockzoo {

/// Fixed waves added to the embedding: P[t, 2i] = sin(t / theta^(2i/D)), P[t, 2i+1] = cos(t / theta^(2i/D)).
/// Source: Vaswani et al. 2017, arXiv:1706.03762.
struct SinusoidalPositionConfig {
  using Impl = class SinusoidalPositionImpl;
  static constexpr std::string_view kind = "sinusoidal";
  static constexpr std::string_view summary =
      "x[t] + P[t] on the embedding, P[t, 2i] = sin(t / theta^(2i/D)), P[t, 2i+1] = cos(...)";
  static constexpr std::string_view source = "Vaswani et al. 2017, arXiv:1706.03762";
  static constexpr bool acts_on_embedding = true;

  double theta = 10000;

  static void fields(auto& self, auto& visit) { visit("theta", self.theta, positive, "longest wavelength / 2 pi"); }
};

/// Parameters: none. An odd D ends with a sine.
class SinusoidalPositionImpl final : public PositionImpl {
 public:
  SinusoidalPositionImpl(const SinusoidalPositionConfig& config, const PositionDims& dims);
  Tensor embed(const Tensor& x, const Places& places) const override;

 private:
  Tensor table_;
};

}  // namespace blockzoo
