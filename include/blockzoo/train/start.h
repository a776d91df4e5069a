#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "blockzoo/core/fields.h"

namespace blockzoo {

/// Start values drawn as model.init says.
struct DrawnStart {
  static constexpr std::string_view kind = "drawn";
  static constexpr std::string_view summary = "values that model.init draws from the seed";
  static constexpr std::string_view source = "";
  static void fields(auto&, auto&) {}
};

/// Start values read from a file, every parameter of the model and nothing else: training goes on from a model that
/// `blockzoo import` wrote, or from a checkpoint's weights. The optimizer starts anew. A run is known by the file's
/// content, not by its name.
struct WeightsStart {
  static constexpr std::string_view kind = "weights";
  static constexpr std::string_view summary = "values of a safetensors file under this zoo's parameter names";
  static constexpr std::string_view source = "";
  std::string path;
  static void fields(auto& self, auto& visit) {
    visit("path", self.path, "safetensors file; relative to the file that names it");
  }
  static void rules(const auto& self, auto& expect) {
    expect(!self.path.empty(), "path", "is missing; give a safetensors file");
  }
};

using StartConfig = std::variant<DrawnStart, WeightsStart>;

}  // namespace blockzoo
