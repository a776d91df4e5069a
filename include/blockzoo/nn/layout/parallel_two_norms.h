#pragma once

#include "blockzoo/nn/layout/base.h"

namespace blockzoo {

/// Parallel with two norms: attention and ffn read the stream side by side, each through its own norm.
///   y = x + attention(norm_1(x)) + ffn(norm_2(x))
/// Source: Black et al. 2022, arXiv:2204.06745 (GPT-NeoX).
struct ParallelTwoNormsConfig {
  using Impl = class ParallelTwoNormsBlockImpl;
  static constexpr std::string_view kind = "parallel_two_norms";
  static constexpr std::string_view summary = "y = x + attention(norm_1(x)) + ffn(norm_2(x))";
  static constexpr std::string_view source = "Black et al. 2022, arXiv:2204.06745";
  static void fields(auto&, auto&) {}
};

/// Parameters: those of attention_norm, ffn_norm, attention and ffn.
class ParallelTwoNormsBlockImpl final : public BlockImpl {
 public:
  ParallelTwoNormsBlockImpl(const ParallelTwoNormsConfig&, const BlockConfig& block, const Dims& dims);

 private:
  Tensor sublayers(const Tensor& x, const Context& context) override;

  Norm attention_norm_, ffn_norm_;
  Attention attention_;
  Ffn ffn_;
};

}  // namespace blockzoo
