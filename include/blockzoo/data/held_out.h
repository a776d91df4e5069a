#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "blockzoo/core/fields.h"

namespace blockzoo {

/// The last tokens are kept for validation: floor(fraction * tokens), at least one. No training window reaches them.
struct TailValidationConfig {
  static constexpr std::string_view kind = "tail";
  static constexpr std::string_view summary = "the end of the data is kept for validation";
  static constexpr std::string_view source = "nanoGPT's prepare.py (Karpathy 2022)";

  static constexpr Bound part{
      .low = 0, .high = 1, .low_included = false, .high_included = false, .allowed = "above 0 and below 1"};

  double fraction = 0.1;

  static void fields(auto& self, auto& visit) { visit("fraction", self.fraction, part, "share of the tokens kept"); }
};

/// Validation has files of its own. Refused when they hold a file, or the contents, of the training data.
struct PathValidationConfig {
  static constexpr std::string_view kind = "path";
  static constexpr std::string_view summary = "validation has a file or folder of its own";
  static constexpr std::string_view source = "nanoGPT's val.bin (Karpathy 2022)";

  std::string path;

  static void fields(auto& self, auto& visit) {
    visit("path", self.path, "file or folder; relative to the file that names it");
  }

  static void rules(const auto& self, auto& expect) {
    expect(!self.path.empty(), "path", "is missing; give a file or a folder");
  }
};

/// Where validation data comes from; the first is the default.
using ValidationConfig = std::variant<TailValidationConfig, PathValidationConfig>;

}  // namespace blockzoo
