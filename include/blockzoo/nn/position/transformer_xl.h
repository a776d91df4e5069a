#pragma once

#include "blockzoo/nn/linear.h"
#include "blockzoo/nn/position/base.h"

namespace blockzoo {

/// Relative positions of Transformer-XL: the score of query i and key j is
///   scale ((q_i + u_h) k_j + (q_i + v_h) (W_r w[i - j])_h),  w[d, n] = sin(d / theta^(2n/D)), w[d, D/2 + n] =
///   cos(...).
/// Source: Dai et al. 2019, arXiv:1901.02860.
/// Differs from the source: u and v are each layer's own, as W_r is (the authors' untie_r; XLNet, arXiv:1906.08237). A
/// soft cap acts on the first term alone. Latent attention has it on the channels that RoPE would turn.
struct TransformerXlPositionConfig {
  using Impl = class TransformerXlPositionImpl;
  static constexpr std::string_view kind = "transformer_xl";
  static constexpr std::string_view summary =
      "scores (q_i + u) k_j + (q_i + v) (W_r w[i - j]), w sinusoids; W_r, u, v learned by each layer";
  static constexpr std::string_view source = "Dai et al. 2019, arXiv:1901.02860";
  static constexpr bool acts_on_embedding = false;
  static constexpr bool of_each_layer = true;  // layers of equal needs do not share one

  double theta = 10000;
  bool biases = true;

  static void fields(auto& self, auto& visit) {
    visit("theta", self.theta, positive, "longest wavelength / 2 pi");
    visit("biases", self.biases, "learn u and v; off means u = v = 0");
  }
};

/// Parameters: projection.weight [H K, D], drawn as matrices are; content_bias.weight and position_bias.weight [H, K],
/// u
///             and v, drawn as tables are, absent when `biases` is off.
/// Precision:  w in float32; its projection and the products in the weights' type.
/// Errors:     positions beyond the context.
class TransformerXlPositionImpl final : public PositionImpl {
 public:
  TransformerXlPositionImpl(const TransformerXlPositionConfig& config, const PositionDims& dims);
  Tensor content_queries(const Tensor& q) const override;
  Tensor relative_scores(const Tensor& q, int64_t keys, double factor) const override;

 private:
  const int64_t heads_;
  Linear projection_;
  Embedding content_bias_{nullptr}, position_bias_{nullptr};
  Tensor waves_;  // [context, D]
};

}  // namespace blockzoo
