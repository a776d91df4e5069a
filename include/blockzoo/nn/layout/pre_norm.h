#pragma once

#include "blockzoo/nn/layout/base.h"

namespace blockzoo {

/// Pre-norm: each sublayer reads a normalised stream and adds to the raw one.
///   h = x + attention(norm(x));  y = h + ffn(norm(h))
/// Source: Xiong et al. 2020, arXiv:2002.04745.
struct PreNormConfig {
  using Impl = class PreNormBlockImpl;
  static constexpr std::string_view kind = "pre_norm";
  static constexpr std::string_view summary = "h = x + attention(norm(x)); y = h + ffn(norm(h))";
  static constexpr std::string_view source = "Xiong et al. 2020, arXiv:2002.04745";
  static void fields(auto&, auto&) {}
};

/// Parameters: those of attention_norm, ffn_norm, attention and ffn.
class PreNormBlockImpl final : public BlockImpl {
 public:
  PreNormBlockImpl(const PreNormConfig&, const BlockConfig& block, const Dims& dims);

 private:
  Tensor sublayers(const Tensor& x, const Context& context) override;

  Norm attention_norm_, ffn_norm_;
  Attention attention_;
  Ffn ffn_;
};

}  // namespace blockzoo
