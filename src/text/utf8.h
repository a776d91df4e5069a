#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace blockzoo {

/// One character, or bytes that are none.
struct Utf8Step {
  int32_t point;  // below 0: no whole character begins here
  size_t bytes;   // of the character; or the longest run that begins one and has a wrong byte, or the end, after it
  bool cut;       // the text ends inside what could be a character
};

/// What stands at the begin of `text`, which must not be empty. Surrogates and overlong forms are no characters
/// (Unicode 15, table 3-7).
Utf8Step utf8_step(std::string_view text);

/// Bytes at the begin of `text` that are whole characters.
size_t valid_prefix(std::string_view text);

/// Bytes at the end of `text` that begin a character and lack its rest.
size_t unfinished_tail(std::string_view text);

/// `text` with U+FFFD for each run of bytes that is no character, as Python and Rust cut them.
std::string valid_utf8(std::string_view text);

std::string utf8_of(uint32_t point);

/// Calls valid(part) and broken(part) for the parts of `text`, in order: as long as can be, and never empty.
template <class Valid, class Broken>
void each_run(std::string_view text, const Valid& valid, const Broken& broken) {
  while (!text.empty()) {
    auto size = valid_prefix(text);
    if (size > 0) {
      valid(text.substr(0, size));
    } else {
      while (size < text.size() && utf8_step(text.substr(size)).point < 0) size += utf8_step(text.substr(size)).bytes;
      broken(text.substr(0, size));
    }
    text.remove_prefix(size);
  }
}

}  // namespace blockzoo
