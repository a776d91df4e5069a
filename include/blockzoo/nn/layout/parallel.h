#pragma once

#include "blockzoo/nn/layout/base.h"

namespace blockzoo {

/// Parallel: attention and ffn read the same normalised stream.
///   n = norm(x);  y = x + attention(n) + ffn(n)
/// Source: Wang and Komatsuzaki 2021 (GPT-J); Chowdhery et al. 2022, arXiv:2204.02311 (PaLM).
struct ParallelConfig {
  using Impl = class ParallelBlockImpl;
  static constexpr std::string_view kind = "parallel";
  static constexpr std::string_view summary = "y = x + attention(norm(x)) + ffn(norm(x)), one norm";
  static constexpr std::string_view source =
      "Wang and Komatsuzaki 2021 (GPT-J); Chowdhery et al. 2022, arXiv:2204.02311";
  static void fields(auto&, auto&) {}
};

/// Parameters: those of norm, attention and ffn.
class ParallelBlockImpl final : public BlockImpl {
 public:
  ParallelBlockImpl(const ParallelConfig&, const BlockConfig& block, const Dims& dims);

 private:
  Tensor sublayers(const Tensor& x, const Context& context) override;

  Norm norm_;
  Attention attention_;
  Ffn ffn_;
};

}  // namespace blockzoo
