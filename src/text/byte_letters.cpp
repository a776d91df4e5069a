#include "text/byte_letters.h"

#include <array>

namespace blockzoo {
namespace {

constexpr uint32_t kPoints = 324;  // the letters end below it

struct LetterTable {
  std::array<std::array<char, 2>, 256> bytes{};
  std::array<uint8_t, 256> lengths{};
  std::array<int16_t, kPoints> byte_of{};
};

constexpr bool stands_for_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr LetterTable make_letter_table() {
  LetterTable table;
  table.byte_of.fill(-1);
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const int point = stands_for_itself(byte) ? byte : next++;
    auto& letter = table.bytes[static_cast<size_t>(byte)];
    if (point < 0x80) {
      letter[0] = static_cast<char>(point);
      table.lengths[static_cast<size_t>(byte)] = 1;
    } else {
      letter = {static_cast<char>(0xc0 | (point >> 6)), static_cast<char>(0x80 | (point & 0x3f))};
      table.lengths[static_cast<size_t>(byte)] = 2;
    }
    table.byte_of[static_cast<size_t>(point)] = static_cast<int16_t>(byte);
  }
  return table;
}

constexpr LetterTable kLetters = make_letter_table();

}  // namespace

std::string_view byte_letter(uint8_t byte) { return {kLetters.bytes[byte].data(), kLetters.lengths[byte]}; }

std::string letters_of(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) letters += byte_letter(static_cast<uint8_t>(byte));
  return letters;
}

std::optional<uint8_t> letter_byte(uint32_t point) {
  if (point >= kPoints || kLetters.byte_of[point] < 0) return std::nullopt;
  return static_cast<uint8_t>(kLetters.byte_of[point]);
}

}  // namespace blockzoo
