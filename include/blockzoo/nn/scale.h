#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "blockzoo/core/fields.h"

namespace blockzoo {

/// A fixed factor, on the embedding or on the logits.
struct NoScale {
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view summary = "factor 1";
  static constexpr std::string_view source = "";
  static void fields(auto&, auto&) {}
};

struct ConstantScale {
  static constexpr std::string_view kind = "constant";
  static constexpr std::string_view summary = "a given factor";
  static constexpr std::string_view source = "Hu et al. 2024, arXiv:2404.06395 (MiniCPM)";
  double value = 1;
  static void fields(auto& self, auto& visit) { visit("value", self.value, positive, "the factor"); }
};

struct SqrtWidthScale {
  static constexpr std::string_view kind = "sqrt_width";
  static constexpr std::string_view summary = "factor sqrt(width)";
  static constexpr std::string_view source = "Vaswani et al. 2017, arXiv:1706.03762 (embedding)";
  static void fields(auto&, auto&) {}
};

struct InverseSqrtWidthScale {
  static constexpr std::string_view kind = "inverse_sqrt_width";
  static constexpr std::string_view summary = "factor 1 / sqrt(width)";
  static constexpr std::string_view source = "Raffel et al. 2019, arXiv:1910.10683 (logits of a tied head)";
  static void fields(auto&, auto&) {}
};

using ScaleConfig = std::variant<NoScale, ConstantScale, SqrtWidthScale, InverseSqrtWidthScale>;

double scale_factor(const ScaleConfig& scale, int64_t width);

}  // namespace blockzoo
