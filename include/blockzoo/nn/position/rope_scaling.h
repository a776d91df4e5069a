#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "blockzoo/core/fields.h"

namespace blockzoo {

/// How RoPE's angles are stretched to a longer context than the model was first trained on.
struct NoRopeScaling {
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view summary = "frequencies as they are";
  static constexpr std::string_view source = "";
  static void fields(auto&, auto&) {}
};

struct LinearRopeScaling {
  static constexpr std::string_view kind = "linear";
  static constexpr std::string_view summary = "every frequency divided by factor (position interpolation)";
  static constexpr std::string_view source = "Chen et al. 2023, arXiv:2306.15595";

  double factor = 4;

  static void fields(auto& self, auto& visit) { visit("factor", self.factor, positive, "new context / old context"); }
  static void rules(const auto& self, auto& expect) {
    expect(self.factor != 1, "factor", "is 1, which changes nothing; give another or leave the scaling out");
  }
};

struct Llama3RopeScaling {
  static constexpr std::string_view kind = "llama3";
  static constexpr std::string_view summary = "long waves divided by factor, short ones kept, a linear blend between";
  static constexpr std::string_view source = "Llama team 2024, arXiv:2407.21783";

  double factor = 8;
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  int64_t original_context = 8192;

  static void fields(auto& self, auto& visit) {
    visit("factor", self.factor, positive, "divisor of the long waves");
    visit("low_frequency_factor", self.low_frequency_factor, positive, "waves over original_context / this are long");
    visit("high_frequency_factor", self.high_frequency_factor, positive,
          "waves under original_context / this are short");
    visit("original_context", self.original_context, positive, "context of the first training, tokens");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.factor != 1, "factor", "is 1, which changes nothing; give another or leave the scaling out");
    expect(self.high_frequency_factor > self.low_frequency_factor, "high_frequency_factor",
           "must be above low_frequency_factor");
  }
};

struct YarnRopeScaling {
  static constexpr std::string_view kind = "yarn";
  static constexpr std::string_view summary =
      "blend of kept and divided frequencies by wavelength; cos and sin times attention_factor";
  static constexpr std::string_view source = "Peng et al. 2023, arXiv:2309.00071";

  double factor = 4;
  int64_t original_context = 4096;
  double beta_fast = 32;
  double beta_slow = 1;
  std::optional<double> attention_factor;

  static void fields(auto& self, auto& visit) {
    visit("factor", self.factor, positive, "new context / old context");
    visit("original_context", self.original_context, positive, "context of the first training, tokens");
    visit("beta_fast", self.beta_fast, positive, "turns within original_context above which a wave is kept");
    visit("beta_slow", self.beta_slow, positive, "turns below which a wave is divided by factor");
    visit("attention_factor", self.attention_factor, positive, "multiplies cos and sin; auto is 0.1 ln(factor) + 1");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.factor != 1 || self.attention_factor, "factor",
           "is 1, which changes nothing; give another or leave the scaling out");
    expect(self.beta_fast > self.beta_slow, "beta_fast", "must be above beta_slow");
  }
};

using RopeScaling = std::variant<NoRopeScaling, LinearRopeScaling, Llama3RopeScaling, YarnRopeScaling>;

/// Radians per position for each of width / 2 pairs, and the number that multiplies cos and sin.
struct RopeFrequencies {
  std::vector<double> radians;
  double magnitude = 1;
};

/// theta^(-2i/width), i = 0..width/2-1, then scaled.
RopeFrequencies rope_frequencies(const RopeScaling& scaling, double theta, int64_t width);

}  // namespace blockzoo
