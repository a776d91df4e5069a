#pragma once

#include <string_view>
#include <variant>

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/norm.h"

namespace blockzoo {

/// Norm of queries and keys, after the projection and before the rotation.
/// Source: Henry et al. 2020, arXiv:2010.04245; Dehghani et al. 2023, arXiv:2302.05442.
struct NoQkNormConfig {
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view summary = "queries and keys as projected";
  static constexpr std::string_view source = "";
  static void fields(auto&, auto&) {}
};

/// Over each head's K channels; all heads share one gain [K] (Qwen 3, Gemma 3).
struct HeadQkNormConfig {
  static constexpr std::string_view kind = "head";
  static constexpr std::string_view summary = "over each head's channels, one gain [K] for all heads";
  static constexpr std::string_view source = "Dehghani et al. 2023, arXiv:2302.05442";
  NormConfig norm;
  static void fields(auto& self, auto& visit) { visit("norm", self.norm, "the norm that is taken"); }
  static void rules(const auto& self, auto& expect) {
    expect(!std::holds_alternative<NoNormConfig>(self.norm), "norm", "is none; write qk_norm: {kind: none} instead");
  }
};

/// Over each head's K channels; every head has a gain of its own [H, K] (Command R+, StableLM 2 12B).
struct HeadOwnQkNormConfig {
  static constexpr std::string_view kind = "head_own";
  static constexpr std::string_view summary = "over each head's channels, every head its own gain [H, K]";
  static constexpr std::string_view source = "Dehghani et al. 2023, arXiv:2302.05442";
  NormConfig norm;
  static void fields(auto& self, auto& visit) { visit("norm", self.norm, "the norm that is taken"); }
  static void rules(const auto& self, auto& expect) {
    expect(!std::holds_alternative<NoNormConfig>(self.norm), "norm", "is none; write qk_norm: {kind: none} instead");
  }
};

/// Over all heads' channels at once, one gain [H K] (OLMo 2).
struct FullQkNormConfig {
  static constexpr std::string_view kind = "full";
  static constexpr std::string_view summary = "over all heads' channels at once, one gain [H K]";
  static constexpr std::string_view source = "OLMo team 2024, arXiv:2501.00656";
  NormConfig norm;
  static void fields(auto& self, auto& visit) { visit("norm", self.norm, "the norm that is taken"); }
  static void rules(const auto& self, auto& expect) {
    expect(!std::holds_alternative<NoNormConfig>(self.norm), "norm", "is none; write qk_norm: {kind: none} instead");
  }
};

using QkNormConfig = std::variant<NoQkNormConfig, HeadQkNormConfig, HeadOwnQkNormConfig, FullQkNormConfig>;

/// The norm for `heads` heads of `width` channels; it passes x when the kind is none.
Norm make_qk_norm(const QkNormConfig& config, int64_t heads, int64_t width);

/// Applies such a norm. Shapes: x [B, T, heads, K] -> the same.
Tensor apply_qk_norm(const QkNormConfig& config, Norm& norm, const Tensor& x);

}  // namespace blockzoo
