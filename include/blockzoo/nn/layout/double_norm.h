#pragma once

#include "blockzoo/nn/layout/base.h"

namespace blockzoo {

/// Double norm (sandwich): each sublayer is normalised on both sides, off the main path.
///   h = x + norm(attention(norm(x)));  y = h + norm(ffn(norm(h)))
/// Source: Ding et al. 2021, arXiv:2105.13290; as in Gemma 2, arXiv:2408.00118.
struct DoubleNormConfig {
  using Impl = class DoubleNormBlockImpl;
  static constexpr std::string_view kind = "double_norm";
  static constexpr std::string_view summary = "h = x + norm(attention(norm(x))); y = h + norm(ffn(norm(h)))";
  static constexpr std::string_view source = "Ding et al. 2021, arXiv:2105.13290; Gemma 2, arXiv:2408.00118";
  static void fields(auto&, auto&) {}
};

/// Parameters: those of attention_norm, attention_output_norm, ffn_norm, ffn_output_norm, attention and ffn.
class DoubleNormBlockImpl final : public BlockImpl {
 public:
  DoubleNormBlockImpl(const DoubleNormConfig&, const BlockConfig& block, const Dims& dims);

 private:
  Tensor sublayers(const Tensor& x, const Context& context) override;

  Norm attention_norm_, attention_output_norm_, ffn_norm_, ffn_output_norm_;
  Attention attention_;
  Ffn ffn_;
};

}  // namespace blockzoo
