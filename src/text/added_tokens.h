#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockzoo {

/// A token that is found in the text before anything else happens to it.
struct AddedToken {
  int64_t id = 0;
  std::string content;
  bool single_word = false;  // not beside a letter, digit, mark or underscore
  bool lstrip = false;       // takes the spaces before it
  bool rstrip = false;       // takes the spaces after it
  bool normalized = false;   // looked for in the normalised text; `content` is as it stands there
  bool special = false;
};

/// Finds tokens: the leftmost, and of those the longest, first.
class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens = {});

  struct Part {
    std::string_view text;
    const AddedToken* token;  // null: text between tokens
  };

  /// Parts that cover `text`, valid UTF-8, in order; none of them is empty.
  void split(std::string_view text, std::vector<Part>& parts) const;

  bool empty() const { return tokens_.empty(); }

 private:
  const AddedToken* at(std::string_view text) const;

  std::vector<AddedToken> tokens_;                  // longest first
  std::array<std::vector<uint32_t>, 256> by_byte_;  // tokens that begin with the byte, longest first
  std::optional<char> only_byte_;                   // all tokens begin with it
};

}  // namespace blockzoo
