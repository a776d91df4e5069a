#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/pattern.h"

namespace blockzoo {

/// A part of the text; no merge crosses its ends.
struct Piece {
  std::string_view text;
  bool first = false;    // begins where the whole text begins
  bool goes_on = false;  // begins where a text goes on that was cut
};

/// Pieces, and the texts of those that are no part of what they came from. A deque does not move its elements.
struct Pieces {
  std::vector<Piece> list;
  std::deque<std::string> owned;
  std::vector<Piece> next;           // scratch
  std::vector<Pattern::Span> spans;  // scratch
};

enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// Cuts at the matches of a pattern; `invert` swaps matches and what is between them.
struct SplitStep {
  Pattern pattern;
  SplitBehavior behavior = SplitBehavior::kIsolated;
  bool invert = false;
};

/// A space before each piece that begins with none, but where a text goes on.
struct PrefixSpaceStep {};

/// Bytes become GPT-2's letters for them, for steps and a model that work on these.
struct ByteLettersStep {};

/// Spaces become `mark`, pieces get one in front, but not where a text goes on, and are cut before each.
struct MetaspaceStep {
  enum class Prepend { kNever, kFirst, kAlways };
  std::string mark = "\xe2\x96\x81";
  Prepend prepend = Prepend::kAlways;
  std::optional<Pattern> cut;  // the mark as a pattern; absent: no cuts
};

using PreTokenizerStep = std::variant<SplitStep, PrefixSpaceStep, ByteLettersStep, MetaspaceStep>;

/// Lets `step` cut all pieces further. Empty pieces vanish.
void pre_tokenize(const PreTokenizerStep& step, Pieces& pieces);

}  // namespace blockzoo
