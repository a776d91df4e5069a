#include "core/source_text.h"

#include <algorithm>

namespace blockzoo {
namespace {

constexpr int kMostOpenBrackets = 1000;

[[noreturn]] void refuse(Place place, const std::string& message) {
  throw ConfigError(Problem{std::move(place), "", message});
}

/// Bytes of the UTF-8 character at the front of `text`; 0 when it is none.
size_t character_size(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const size_t size = byte(0) < 0x80   ? 1
                      : byte(0) < 0xc2 ? 0
                      : byte(0) < 0xe0 ? 2
                      : byte(0) < 0xf0 ? 3
                      : byte(0) < 0xf5 ? 4
                                       : 0;
  if (size == 0 || size > text.size()) return 0;
  for (size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if (size == 3 && byte(0) == 0xe0 && byte(1) < 0xa0) return 0;
  if (size == 3 && byte(0) == 0xed && byte(1) > 0x9f) return 0;
  if (size == 4 && byte(0) == 0xf0 && byte(1) < 0x90) return 0;
  if (size == 4 && byte(0) == 0xf4 && byte(1) > 0x8f) return 0;
  return size;
}

}  // namespace

SourceText::SourceText(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {
  if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
    refuse(place(0, 0), "UTF-16; the file must be UTF-8");
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  if (text_.size() > kMostBytes) refuse({name_, 0, 0}, "larger than 1 MiB, which no config is");
  for (size_t at = 0; at < text_.size(); ++at) {
    if (text_[at] == '\n') line_starts_.push_back(at + 1);
  }
  check_encoding();
  check_nesting();
}

bool SourceText::is_behind_tab(int line, int column) const {
  const auto start = offset(line, 0);
  const auto before = text_.substr(start, offset(line, column) - start);
  return before.find('\t') != std::string_view::npos && before.find_first_not_of(" \t") == std::string_view::npos;
}

bool SourceText::has_tab_indentation(int line) const {
  const auto rest = text_.substr(offset(line, 0));
  return rest.substr(0, rest.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
}

bool SourceText::is_unclosed_quote(int line, int column) const {
  auto at = offset(line, column);
  if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return false;
  const char quote = text_[at++];
  for (; at < text_.size(); ++at) {
    if (quote == '"' && text_[at] == '\\') {
      ++at;
    } else if (text_[at] == quote) {
      if (quote == '"' || at + 1 == text_.size() || text_[at + 1] != quote) return false;
      ++at;
    }
  }
  return true;
}

size_t SourceText::offset(int line, int column) const {
  if (line < 0 || column < 0 || static_cast<size_t>(line) >= line_starts_.size()) return text_.size();
  return std::min(text_.size(), line_starts_[static_cast<size_t>(line)] + static_cast<size_t>(column));
}

void SourceText::check_encoding() const {
  int line = 0;
  int column = 0;
  for (size_t at = 0; at < text_.size();) {
    const auto byte = static_cast<unsigned char>(text_[at]);
    const auto size = character_size(text_.substr(at));
    if (size == 0) refuse(place(line, column), "not UTF-8; the file must be UTF-8 text");
    if (byte == 0) refuse(place(line, column), "a zero byte; the file must be UTF-8 text (UTF-16 is not read)");
    if (byte == '\r' && (at + 1 == text_.size() || text_[at + 1] != '\n'))
      refuse(place(line, column), "a carriage return alone; lines end with a line feed, or with both");
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f)
      refuse(place(line, column), "a control character");
    column = byte == '\n' ? 0 : column + static_cast<int>(size);
    line += byte == '\n';
    at += size;
  }
}

/// The parser's time grows with the number of open brackets; brackets in text and comments are counted too, so the
/// limit is far above what Builder allows.
void SourceText::check_nesting() const {
  int open = 0;
  int line = 0;
  for (size_t at = 0; at < text_.size(); ++at) {
    const char c = text_[at];
    line += c == '\n';
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (open > kMostOpenBrackets)
      refuse(place(line, static_cast<int>(at - line_starts_[static_cast<size_t>(line)])),
             "nested far deeper than any config");
  }
}

}  // namespace blockzoo
