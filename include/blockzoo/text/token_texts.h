#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/text/tokenizer.h"

namespace blockzoo {

/// What each id adds to the text of those before it, as valid UTF-8: bytes of a character that its token does not hold
/// whole are written "<0xC3>". Errors: std::out_of_range for an id that the vocabulary lacks.
std::vector<std::string> token_texts(const Tokenizer& tokenizer, std::span<const int64_t> ids);

/// Such a text on one line: a space is ␣, a line end \n, other control characters \x1B, and nothing is ''.
std::string visible_text(std::string_view text);

/// Valid UTF-8 in so many columns of a terminal: filled up with spaces, or cut, its last column being …
std::string in_columns(std::string_view text, size_t columns);

}  // namespace blockzoo
