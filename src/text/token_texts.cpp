#include "blockzoo/text/token_texts.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/byte_piece.h"
#include "text/utf8.h"

namespace blockzoo {
namespace {

std::string with_broken_bytes(std::string_view text) {
  std::string result;
  each_run(
      text, [&](std::string_view valid) { result += valid; },
      [&](std::string_view broken) {
        for (const char byte : broken) result += byte_piece(static_cast<uint8_t>(byte));
      });
  return result;
}

/// Control characters as C writes them.
std::string escape(uint8_t control) {
  if (control == '\n') return "\\n";
  if (control == '\r') return "\\r";
  if (control == '\t') return "\\t";
  constexpr std::string_view digits = "0123456789ABCDEF";
  return {'\\', 'x', digits[control >> 4], digits[control & 15]};
}

size_t columns_of(int32_t point) { return static_cast<size_t>(std::max(0, utf8proc_charwidth(point))); }

}  // namespace

std::vector<std::string> token_texts(const Tokenizer& tokenizer, std::span<const int64_t> ids) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < ids.size(); ++i) {
    // Some tokenizers write the first id of a text without its space, so the id before is decoded too.
    const size_t first = i == 0 ? 0 : i - 1;
    const auto before = tokenizer.decode(ids.subspan(first, i - first)),
               both = tokenizer.decode(ids.subspan(first, i - first + 1));
    texts.push_back(with_broken_bytes(std::string_view(both).substr(std::min(before.size(), both.size()))));
  }
  return texts;
}

std::string visible_text(std::string_view text) {
  if (text.empty()) return "''";
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const auto step = utf8_step(text.substr(at));
    if (step.point == ' ') {
      result += "␣";
    } else if (step.point >= 0 && (step.point < 0x20 || (step.point >= 0x7F && step.point < 0xA0))) {
      result += escape(static_cast<uint8_t>(step.point));
    } else {
      result += text.substr(at, step.bytes);
    }
    at += step.bytes;
  }
  return result;
}

std::string in_columns(std::string_view text, size_t columns) {
  size_t used = 0, fitting = 0, fitting_columns = 0;  // the longest beginning that leaves a column free
  for (size_t at = 0; at < text.size();) {
    const auto step = utf8_step(text.substr(at));
    const auto wide = columns_of(step.point);
    if (used + wide > columns)
      return std::string(text.substr(0, fitting)) + "…" + std::string(columns - fitting_columns - 1, ' ');
    used += wide;
    at += step.bytes;
    if (used < columns) {
      fitting = at;
      fitting_columns = used;
    }
  }
  return std::string(text) + std::string(columns - used, ' ');
}

}  // namespace blockzoo
