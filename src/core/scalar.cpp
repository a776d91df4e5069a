#include "core/scalar.h"

#include <charconv>
#include <cmath>

namespace blockzoo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent, no leading zeros.
bool has_number_form(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - start;
  };
  const auto sign = [&] {
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  };
  sign();
  const size_t whole_start = at;
  const size_t whole = digits();
  if (whole > 1 && text[whole_start] == '0') return false;
  size_t part = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    part = digits();
  }
  if (whole + part == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    sign();
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  if (!has_number_form(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value + 0.0;  // -0 becomes 0: they are one setting, and write the same
}

std::optional<int64_t> parse_integer(std::string_view text) {
  if (!has_number_form(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
  const auto value = parse_number(text);
  constexpr double exact = 9007199254740992.0;  // 2^53: from it on a double does not tell neighbours apart
  if (!value || std::abs(*value) >= exact || *value != std::trunc(*value)) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::string write_number(double value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

bool needs_quotes(std::string_view text) {
  static constexpr std::string_view reserved[] = {"y",    "n",     "yes",  "no",  "on", "off",
                                                  "true", "false", "null", "nan", "inf"};
  if (text.empty() || is_digit(text.front()) || text.front() == '-' || text.front() == '.') return true;
  std::string lower;
  for (const char c : text) {
    const bool plain =
        is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.' || c == '/';
    if (!plain) return true;
    lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  for (const auto word : reserved) {
    if (lower == word) return true;
  }
  return false;
}

}  // namespace blockzoo
