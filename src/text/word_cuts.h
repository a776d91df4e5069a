#pragma once

#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"

namespace blockzoo {

/// Whether text may be cut between an ASCII letter and a space with an ASCII letter after it without changing its ids:
/// every pattern is one that is known to end a piece there and to look no further, and neither normaliser nor added
/// tokens join the two sides.
bool breaks_between_words(const std::vector<NormalizerStep>& normalizer,
                          const std::vector<PreTokenizerStep>& pre_tokenizer, const std::vector<AddedToken>& added);

/// The last such place in the text; 0 when there is none.
size_t last_word_cut(std::string_view text);

}  // namespace blockzoo
