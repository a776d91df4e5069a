#pragma once

#include "blockzoo/nn/linear.h"
#include "blockzoo/nn/position/base.h"

namespace blockzoo {

/// A learned vector for every position, added to the embedding: x[t] + P[t].
/// Source: Gehring et al. 2017, arXiv:1705.03122; as in GPT-2 (Radford et al. 2019).
struct LearnedPositionConfig {
  using Impl = class LearnedPositionImpl;
  static constexpr std::string_view kind = "learned";
  static constexpr std::string_view summary = "x[t] + P[t] on the embedding, P learned";
  static constexpr std::string_view source = "Gehring et al. 2017, arXiv:1705.03122";
  static constexpr bool acts_on_embedding = true;

  int64_t unused_rows = 0;

  static void fields(auto& self, auto& visit) {
    visit("unused_rows", self.unused_rows, tensor_size_or_none, "rows before the one of position 0 (OPT keeps 2)");
  }
};

/// Parameters: table.weight [unused_rows + context, D], drawn by the model's init for embeddings.
class LearnedPositionImpl final : public PositionImpl {
 public:
  LearnedPositionImpl(const LearnedPositionConfig& config, const PositionDims& dims);
  Tensor embed(const Tensor& x, const Places& places) const override;

 private:
  const int64_t unused_rows_;
  Embedding table_;
};

}  // namespace blockzoo
