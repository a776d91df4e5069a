#include "text/base64.h"

#include <cstdint>
#include <stdexcept>

namespace blockzoo {

std::string base64_bytes(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    const auto value = letters.find(letter);
    if (value == letters.npos) throw std::runtime_error("is not base 64");
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

}  // namespace blockzoo
