#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace blockzoo {

/// Cuts a growing text before the first of some texts. What may be the beginning of one is held back.
class StopTexts {
 public:
  /// Errors: std::invalid_argument when one is empty or no valid UTF-8, which could cut a character.
  explicit StopTexts(std::vector<std::string> stops);

  /// What of the text so far is certain now. Empty once a stop text was found.
  std::string push(std::string_view text);
  /// What is still held back, when the text ends.
  std::string finish();

  bool found() const { return found_; }

 private:
  const std::vector<std::string> stops_;
  std::string held_;
  bool found_ = false;
};

}  // namespace blockzoo
