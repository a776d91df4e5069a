#pragma once

#include <string_view>

#include "text/tokenizer_parts.h"

namespace blockzoo {

/// Where a text may be cut without changing its ids, the second part being encoded as one that goes on: every pattern
/// is known to end a piece there and to look no further, and neither normaliser, nor added tokens, nor a piece of the
/// vocabulary joins the two sides.
struct WordCuts {
  bool spaces = false;  // between an ASCII letter and a space with an ASCII letter after it
  bool lines = false;  // behind a line end that stands alone between two letters, or a letter and punctuation before it
};

WordCuts word_cuts(const TokenizerParts& parts);

/// The last such place in the text; 0 when there is none.
size_t last_word_cut(std::string_view text, WordCuts cuts);

/// Whether tokens of a model over characters end where words do: U+2581, which stands for a space, is a piece, and
/// stands in none behind another character.
bool pieces_end_at_marks(const std::vector<std::string>& pieces);

}  // namespace blockzoo
