#pragma once

#include "blockzoo/nn/norm/base.h"

namespace blockzoo {

/// No norm: y = x.
struct NoNormConfig {
  using Impl = class NoNormImpl;
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view summary = "y = x";
  static constexpr std::string_view source = "";
  static void fields(auto&, auto&) {}
};

/// Shapes: x [..., D] -> x itself. Parameters: none.
class NoNormImpl final : public NormImpl {
 public:
  NoNormImpl(const NoNormConfig&, at::IntArrayRef) {}
  Tensor forward(const Tensor& x) override { return x; }
};

}  // namespace blockzoo
