#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace blockzoo {

/// The table by which SentencePiece rewrites text, such as NFKC's: a double array over the bytes of what is rewritten
/// (Darts-clone's units), and behind it the texts that come in place, each with a zero byte at its end.
/// Source: Kudo and Richardson 2018, arXiv:1808.06226; Yata's Darts-clone for the units.
class CharMap {
 public:
  /// Errors: std::runtime_error when the table is cut short.
  explicit CharMap(std::string_view table);

  struct Rule {
    size_t bytes = 0;  // of the text that it rewrites; 0: there is none
    std::string_view text;
  };

  /// The rule for the shortest begin of `text` that has one. Errors: std::runtime_error when it points outside of the
  /// table.
  Rule shortest(std::string_view text) const;

  /// Calls visit(text, what comes in place, count of the rules that rewrite a begin of the text or all of it) for all
  /// rules. Errors: std::runtime_error when looking for any text could lead outside of the table or round in it.
  using VisitRule = std::function<void(std::string_view, std::string_view, int)>;
  void each_rule(const VisitRule& visit) const;

 private:
  bool step(uint32_t& node, char byte) const;
  std::string_view replacement(uint32_t node) const;

  std::vector<uint32_t> units_;
  std::string texts_;
};

}  // namespace blockzoo
