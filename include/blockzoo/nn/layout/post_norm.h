#pragma once

#include "blockzoo/nn/layout/base.h"

namespace blockzoo {

/// Post-norm: the stream itself is normalised after every sublayer.
///   h = norm(x + attention(x));  y = norm(h + ffn(h))
/// Source: Vaswani et al. 2017, arXiv:1706.03762.
struct PostNormConfig {
  using Impl = class PostNormBlockImpl;
  static constexpr std::string_view kind = "post_norm";
  static constexpr std::string_view summary = "h = norm(x + attention(x)); y = norm(h + ffn(h))";
  static constexpr std::string_view source = "Vaswani et al. 2017, arXiv:1706.03762";
  static void fields(auto&, auto&) {}
};

/// Parameters: those of attention_norm, ffn_norm, attention and ffn.
class PostNormBlockImpl final : public BlockImpl {
 public:
  PostNormBlockImpl(const PostNormConfig&, const BlockConfig& block, const Dims& dims);

 private:
  Tensor sublayers(const Tensor& x, const Context& context) override;

  Norm attention_norm_, ffn_norm_;
  Attention attention_;
  Ffn ffn_;
};

}  // namespace blockzoo
