#include "text/char_map.h"

#include <bit>
#include <cstring>
#include <stdexcept>

namespace blockzoo {
namespace {

static_assert(std::endian::native == std::endian::little, "the table's integers are little-endian");

// A unit is a node: its label is the byte that leads to it, its offset where its children begin. A node whose text has
// a rule has a child for the end of the text, which holds the rule's value.
bool has_value(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t value_of(uint32_t unit) { return unit & 0x7fffffffU; }
uint32_t label_of(uint32_t unit) { return unit & 0x800000ffU; }
uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & 0x200U) >> 6); }

}  // namespace

CharMap::CharMap(std::string_view table) {
  uint32_t bytes = 0;
  if (table.size() > sizeof bytes) std::memcpy(&bytes, table.data(), sizeof bytes);
  if (bytes == 0 || bytes % sizeof(uint32_t) != 0 || bytes >= table.size() - sizeof bytes)
    throw std::runtime_error("the table is cut short, or none");
  units_.resize(bytes / sizeof(uint32_t));
  std::memcpy(units_.data(), table.data() + sizeof bytes, bytes);
  texts_ = table.substr(sizeof bytes + bytes);
  if (texts_.back() != '\0') throw std::runtime_error("the table's last text has no end");
}

bool CharMap::step(uint32_t& node, char byte) const {
  const auto label = static_cast<uint8_t>(byte);
  const auto child = node ^ offset_of(units_[node]) ^ label;
  if (child >= units_.size() || label_of(units_[child]) != label) return false;
  node = child;
  return true;
}

std::string_view CharMap::replacement(uint32_t node) const {
  const auto leaf = node ^ offset_of(units_[node]);
  const auto at = leaf < units_.size() ? value_of(units_[leaf]) : uint32_t{0xffffffff};
  if (at >= texts_.size()) throw std::runtime_error("the table of the normaliser points outside of itself");
  return texts_.c_str() + at;
}

CharMap::Rule CharMap::shortest(std::string_view text) const {
  uint32_t node = 0;
  for (size_t i = 0; i < text.size() && step(node, text[i]); ++i)
    if (has_value(units_[node])) return {i + 1, replacement(node)};
  return {};
}

void CharMap::each_rule(const VisitRule& visit) const {
  struct Place {
    uint32_t node;
    uint32_t next = 0;  // the byte to go on with
    int rules = 0;      // on the way here
  };
  constexpr size_t longest_text = 1024;
  constexpr size_t most_places = size_t{1} << 22;
  std::vector<Place> way{{.node = 0}};
  std::string text;
  for (size_t places = 0; !way.empty();) {
    auto& [node, next, rules] = way.back();
    if (next == 0) {
      if (((node ^ offset_of(units_[node])) | 0xffU) >= units_.size())
        throw std::runtime_error("the table points outside of itself");
      if (way.size() > longest_text || ++places > most_places) throw std::runtime_error("the table runs in a circle");
      if (has_value(units_[node])) visit(text, replacement(node), ++rules);
      next = 1;  // a zero byte ends a text
    }
    auto child = node;
    while (next < 0x100 && !step(child, static_cast<char>(next))) ++next;
    if (next == 0x100) {
      way.pop_back();
      if (!text.empty()) text.pop_back();
      continue;
    }
    text += static_cast<char>(next++);
    way.push_back({.node = child, .next = 0, .rules = rules});
  }
}

}  // namespace blockzoo
