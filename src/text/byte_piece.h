#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blockzoo {

/// SentencePiece's name of a byte, such as "<0x0A>".
inline std::string byte_piece(uint8_t byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
}

inline std::optional<uint8_t> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  int value = 0;
  for (const char c : piece.substr(3, 2)) {
    if (c >= '0' && c <= '9') {
      value = value * 16 + (c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      value = value * 16 + ((c | 0x20) - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return static_cast<uint8_t>(value);
}

}  // namespace blockzoo
