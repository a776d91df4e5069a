#pragma once

#include "blockzoo/nn/layout/base.h"

namespace blockzoo {

/// Output norm: only what a sublayer adds is normalised.
///   h = x + norm(attention(x));  y = h + norm(ffn(h))
/// Source: OLMo team 2024, arXiv:2501.00656 (OLMo 2); first in Liu et al. 2021, arXiv:2111.09883 (Swin v2).
struct OutputNormConfig {
  using Impl = class OutputNormBlockImpl;
  static constexpr std::string_view kind = "output_norm";
  static constexpr std::string_view summary = "h = x + norm(attention(x)); y = h + norm(ffn(h))";
  static constexpr std::string_view source = "OLMo team 2024, arXiv:2501.00656";
  static void fields(auto&, auto&) {}
};

/// Parameters: those of attention_output_norm, ffn_output_norm, attention and ffn.
class OutputNormBlockImpl final : public BlockImpl {
 public:
  OutputNormBlockImpl(const OutputNormConfig&, const BlockConfig& block, const Dims& dims);

 private:
  Tensor sublayers(const Tensor& x, const Context& context) override;

  Norm attention_output_norm_, ffn_output_norm_;
  Attention attention_;
  Ffn ffn_;
};

}  // namespace blockzoo
