#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/pattern.h"

namespace blockzoo {

/// Unicode's normal forms, by utf8proc.
struct NormalFormStep {
  bool compatible = false;  // NFKC, NFKD
  bool composed = true;     // NFC, NFKC
};

/// Before any text but the empty one.
struct PrependStep {
  std::string text;
};

struct ReplaceStep {
  Pattern pattern;
  std::string content;
};

using NormalizerStep = std::variant<NormalFormStep, PrependStep, ReplaceStep>;

/// `text`, valid UTF-8, after the steps in order.
std::string normalize(const std::vector<NormalizerStep>& steps, std::string_view text);

}  // namespace blockzoo
