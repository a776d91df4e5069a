#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/core/config_error.h"

namespace blockzoo {

/// The text of a config before it is parsed: refuses what no config needs and the parser would crash on, spend minutes
/// on or silently change.
class SourceText {
 public:
  static constexpr size_t kMostBytes = 1 << 20;

  /// Errors: ConfigError with place: over 1 MiB, UTF-16, not UTF-8, control characters, a carriage return alone,
  /// brackets nested absurdly deep. A byte order mark is left out.
  SourceText(std::string_view text, std::string name);

  std::string_view text() const { return text_; }

  /// `line` and `column` count from 0, as the parser's marks do.
  Place place(int line, int column) const { return {name_, line + 1, column + 1}; }

  /// What stands there begins its line, behind a tab.
  bool is_behind_tab(int line, int column) const;

  /// The line begins with blanks and at least one tab.
  bool has_tab_indentation(int line) const;

  /// A quoted scalar begins there and has no closing quote.
  bool is_unclosed_quote(int line, int column) const;

 private:
  size_t offset(int line, int column) const;
  void check_encoding() const;
  void check_nesting() const;

  std::string_view text_;
  std::string name_;
  std::vector<size_t> line_starts_{0};
};

}  // namespace blockzoo
