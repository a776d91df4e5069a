#pragma once

#include "blockzoo/nn/position/base.h"

namespace blockzoo {

/// Attention with linear biases: slope_h * (j - i) added to the score of query i and key j. Slopes are 2^(-8 (h+1) / n)
/// for n, the largest power of two up to H; further heads take the odd-numbered slopes of the series for 2n.
/// Source: Press, Smith and Lewis 2021, arXiv:2108.12409.
struct AlibiPositionConfig {
  using Impl = class AlibiPositionImpl;
  static constexpr std::string_view kind = "alibi";
  static constexpr std::string_view summary = "slope_h * (j - i) added to the score of query i and key j";
  static constexpr std::string_view source = "Press, Smith and Lewis 2021, arXiv:2108.12409";
  static constexpr bool acts_on_embedding = false;
  static void fields(auto&, auto&) {}
};

/// Parameters: none.
class AlibiPositionImpl final : public PositionImpl {
 public:
  AlibiPositionImpl(const AlibiPositionConfig& config, const PositionDims& dims);
  Tensor distance_bias(int64_t distances) const override;

 private:
  Tensor slopes_;  // [H, 1]
};

}  // namespace blockzoo
