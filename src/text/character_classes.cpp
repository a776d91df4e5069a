#include "text/character_classes.h"

#include <utf8proc.h>

#include "text/utf8.h"

namespace blockzoo {
namespace {

/// Symbols (So) that have Unicode's property Other_Alphabetic: letters in circles and squares.
bool is_alphabetic_symbol(int32_t point) {
  return (point >= 0x24b6 && point <= 0x24e9) || (point >= 0x1f130 && point <= 0x1f149) ||
         (point >= 0x1f150 && point <= 0x1f169) || (point >= 0x1f170 && point <= 0x1f189);
}

}  // namespace

bool is_word(int32_t point) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return point == 0x200c || point == 0x200d || is_alphabetic_symbol(point);
  }
}

bool is_space(int32_t point) {
  if ((point >= 0x9 && point <= 0xd) || point == 0x85) return true;
  const auto category = utf8proc_category(point);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

size_t start_of_last(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (text[at] & 0xc0) == 0x80) --at;
  return at;
}

size_t before_spaces(std::string_view text, size_t end) {
  while (end > 0) {
    const auto start = start_of_last(text.substr(0, end));
    if (!is_space(utf8_step(text.substr(start)).point)) break;
    end = start;
  }
  return end;
}

size_t after_spaces(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const auto step = utf8_step(text.substr(begin));
    if (!is_space(step.point)) break;
    begin += step.bytes;
  }
  return begin;
}

}  // namespace blockzoo
