#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blockzoo {

/// The letter by which GPT-2's byte-level tokenizers write a byte: printable Latin-1 for itself, the other bytes, in
/// order, as the code points from U+0100 on. At most two bytes of UTF-8.
std::string_view byte_letter(uint8_t byte);

std::string letters_of(std::string_view bytes);

/// The byte that a code point stands for; absent when it stands for none.
std::optional<uint8_t> letter_byte(uint32_t point);

}  // namespace blockzoo
