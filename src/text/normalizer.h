#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "blockzoo/text/text_start.h"
#include "text/char_map.h"
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

/// Each character becomes its lower case, whatever stands beside it.
struct LowercaseStep {};

/// Takes white space off the ends of the text.
struct StripStep {
  bool left = true;
  bool right = true;
};

/// Marks (categories Mn, Mc, Me) vanish.
struct StripAccentsStep {};

/// SentencePiece's table as `tokenizers` uses it: a grapheme cluster of up to five bytes that begins with a rule's text
/// is rewritten whole, by the shortest such rule; else each of its characters is.
struct CharMapStep {
  std::shared_ptr<const CharMap> map;
};

using NormalizerStep = std::variant<NormalFormStep, PrependStep, ReplaceStep, LowercaseStep, StripStep,
                                    StripAccentsStep, CharMapStep>;

/// `text`, valid UTF-8, after the steps in order.
std::string normalize(const std::vector<NormalizerStep>& steps, std::string_view text,
                      TextStart start = TextStart::kBegins);

}  // namespace blockzoo
