#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blockzoo {

/// The table by which SentencePiece rewrites text, such as NFKC's: a double array over the bytes of what is rewritten
/// (Darts-clone's units), and behind it the texts that come in place, each with a zero byte at its end.
/// Source: Kudo and Richardson 2018, arXiv:1808.06226; Yata's Darts-clone for the units.
class CharMap {
 public:
  /// Errors: std::runtime_error when the table is cut short or points outside of itself.
  explicit CharMap(std::string_view table);

  struct Rule {
    size_t bytes = 0;  // of the text that it rewrites; 0: there is none
    std::string_view text;
  };

  /// The rule for the longest, or the shortest, begin of `text` that has one.
  Rule longest(std::string_view text) const { return find(text, false); }
  Rule shortest(std::string_view text) const { return find(text, true); }

  /// Whether a rule rewrites `text` together with what follows it, or alone.
  bool begins_rule(std::string_view text) const;

 private:
  Rule find(std::string_view text, bool first) const;
  bool step(uint32_t& node, char byte) const;
  std::string_view replacement(uint32_t node) const;

  std::vector<uint32_t> units_;
  std::string texts_;
};

}  // namespace blockzoo
