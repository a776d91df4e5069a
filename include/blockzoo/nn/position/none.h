#pragma once

#include "blockzoo/nn/position/base.h"

namespace blockzoo {

/// No position encoding: order is known through the causal mask alone.
/// Source: Kazemnejad et al. 2023, arXiv:2305.19466.
struct NoPositionConfig {
  using Impl = class NoPositionImpl;
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view summary = "no encoding (NoPE): only the causal mask tells the order";
  static constexpr std::string_view source = "Kazemnejad et al. 2023, arXiv:2305.19466";
  static constexpr bool acts_on_embedding = false;
  static void fields(auto&, auto&) {}
};

/// Parameters: none.
class NoPositionImpl final : public PositionImpl {
 public:
  NoPositionImpl(const NoPositionConfig&, const PositionDims&) {}
};

}  // namespace blockzoo
