#include "text/utf8.h"

#include <algorithm>

namespace blockzoo {
namespace {

/// What may follow a first byte: how many bytes, and the range of the second one.
struct Lead {
  int rest;
  uint8_t low;
  uint8_t high;
};

Lead lead_of(uint8_t byte) {
  if (byte >= 0xc2 && byte <= 0xdf) return {1, 0x80, 0xbf};
  if (byte == 0xe0) return {2, 0xa0, 0xbf};
  if (byte == 0xed) return {2, 0x80, 0x9f};
  if (byte >= 0xe1 && byte <= 0xef) return {2, 0x80, 0xbf};
  if (byte == 0xf0) return {3, 0x90, 0xbf};
  if (byte >= 0xf1 && byte <= 0xf3) return {3, 0x80, 0xbf};
  if (byte == 0xf4) return {3, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

Utf8Step utf8_step(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return {first, 1, false};
  const auto lead = lead_of(first);
  if (lead.rest == 0) return {-1, 1, false};
  int32_t point = first & (0x3f >> lead.rest);
  for (int i = 1; i <= lead.rest; ++i) {
    const auto at = static_cast<size_t>(i);
    if (at >= text.size()) return {-1, at, true};
    const auto byte = static_cast<uint8_t>(text[at]);
    if (byte < (i == 1 ? lead.low : 0x80) || byte > (i == 1 ? lead.high : 0xbf)) return {-1, at, false};
    point = (point << 6) | (byte & 0x3f);
  }
  return {point, static_cast<size_t>(lead.rest) + 1, false};
}

size_t valid_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const auto step = utf8_step(text.substr(at));
    if (step.point < 0) break;
    at += step.bytes;
  }
  return at;
}

size_t unfinished_tail(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto step = utf8_step(text.substr(text.size() - back));
    if (step.cut && step.bytes == back) return back;
  }
  return 0;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto valid = valid_prefix(text);
    out += text.substr(0, valid);
    text.remove_prefix(valid);
    if (text.empty()) break;
    out += "\xef\xbf\xbd";
    text.remove_prefix(utf8_step(text).bytes);
  }
  return out;
}

std::string utf8_of(uint32_t point) {
  const auto tail = [](uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xc0 | (point >> 6)), tail(point)};
  if (point < 0x10000) return {static_cast<char>(0xe0 | (point >> 12)), tail(point >> 6), tail(point)};
  return {static_cast<char>(0xf0 | (point >> 18)), tail(point >> 12), tail(point >> 6), tail(point)};
}

}  // namespace blockzoo
