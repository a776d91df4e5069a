#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "blockzoo/core/fields.h"

namespace blockzoo {

struct NoSample {
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view summary = "no text is written";
  static constexpr std::string_view source = "";
  static void fields(auto&, auto&) {}
};

/// After the last step the model continues a text, and the record keeps what it writes. It changes nothing in training
/// and is no part of a run's identity.
struct TextSample {
  static constexpr std::string_view kind = "text";
  static constexpr std::string_view summary = "a short text that the trained model writes, for the report";
  static constexpr std::string_view source = "";

  std::string prompt;
  int64_t tokens = 60;
  double temperature = 0;

  static void fields(auto& self, auto& visit) {
    visit("prompt", self.prompt, "the text that is continued");
    visit("tokens", self.tokens, positive, "most new tokens");
    visit("temperature", self.temperature, not_negative,
          "divides the logits; 0 takes the likeliest token. What is drawn depends on the run's seed");
  }
  static void rules(const auto& self, auto& expect) {
    expect(!self.prompt.empty(), "prompt", "is missing; give a text to continue");
  }
};

/// What a model writes when it is trained; the first is the default.
using SampleConfig = std::variant<NoSample, TextSample>;

}  // namespace blockzoo
