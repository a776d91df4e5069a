#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace blockzoo {

/// \w of Unicode's regular expressions (UTS 18): alphabetic, marks, decimal digits, connectors, joiners.
bool is_word(int32_t point);

/// Unicode's White_Space.
bool is_space(int32_t point);

inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Where the last character of `text`, which must not be empty, begins.
size_t start_of_last(std::string_view text);

/// The begin of the white space that ends at `end`.
size_t before_spaces(std::string_view text, size_t end);

/// The end of the white space that begins at `begin`.
size_t after_spaces(std::string_view text, size_t begin);

}  // namespace blockzoo
