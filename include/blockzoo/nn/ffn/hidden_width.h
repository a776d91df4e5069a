#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "blockzoo/core/fields.h"

namespace blockzoo {

enum class Rounding { kUp, kDown };

constexpr auto names(Rounding) {
  using enum Rounding;
  return std::to_array<std::pair<Rounding, std::string_view>>({{kUp, "up"}, {kDown, "down"}});
}

/// Hidden width F of a feed-forward sublayer: given, or a ratio of the model width D. A ratio is first cut to a whole
/// number, F0 = floor(ratio * D), and then brought to a multiple, as Llama's code does.
struct HiddenWidth {
  std::optional<int64_t> hidden;
  std::optional<double> ratio;
  int64_t multiple_of = 1;
  Rounding rounding = Rounding::kUp;

  static constexpr Bound ratio_range{
      .low = 0, .high = 1024, .low_included = false, .allowed = "above 0 and at most 1024"};

  static void fields(auto& self, auto& visit) {
    visit("hidden", self.hidden, tensor_size, "hidden width F; auto takes it from ratio");
    visit("ratio", self.ratio, ratio_range, "F / D when hidden is auto; auto is 4 for mlp and 8/3 for glu");
    visit("multiple_of", self.multiple_of, tensor_size, "F from a ratio is brought to a multiple of this");
    visit("rounding", self.rounding, "up or down to that multiple");
  }
  static void rules(const auto& self, auto& expect) {
    const char* unused = "has no effect when hidden is given; leave it out or set hidden: auto";
    expect(!self.hidden || !self.ratio, "ratio", unused);
    expect(!self.hidden || self.multiple_of == 1, "multiple_of", unused);
    expect(self.multiple_of > 1 || self.rounding == Rounding::kUp, "rounding", "has no effect when multiple_of is 1");
  }
  /// F for model width D; `default_ratio` is used when neither hidden nor ratio is given.
  int64_t resolve(int64_t model, double default_ratio) const;
};

}  // namespace blockzoo
