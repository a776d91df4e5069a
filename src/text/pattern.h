#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pcre2_real_code_8;

namespace blockzoo {

/// A regular expression over Unicode text, by PCRE2, that means what Oniguruma makes of it in `tokenizers`. The one
/// difference in what both know is `\s`, which is Unicode's White_Space here, without U+180E. Letters, digits and
/// marks are those of the library's Unicode version.
class Pattern {
 public:
  /// Errors: std::runtime_error with the place in the pattern: it does not compile, can match nothing at all, or uses
  /// something whose meaning differs between the two libraries.
  explicit Pattern(const std::string& expression);

  /// The text itself as a pattern.
  static Pattern literal(std::string_view text);

  struct Span {
    size_t begin;
    size_t end;
  };

  /// All matches in `text`, which must be valid UTF-8, from left to right. Errors: std::runtime_error when the
  /// library gives up on the text.
  void find_all(std::string_view text, std::vector<Span>& spans) const;

  const std::string& expression() const { return expression_; }

 private:
  std::string expression_;
  std::shared_ptr<const pcre2_real_code_8> code_;
};

}  // namespace blockzoo
