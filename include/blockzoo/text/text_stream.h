#pragma once

#include "blockzoo/text/tokenizer.h"

namespace blockzoo {

/// Text of ids that come one after the other: bytes are held back until the characters they belong to are whole, so
/// that all that is handed out is valid UTF-8. Bytes that can become no character come out as U+FFFD.
class TextStream {
 public:
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  /// The text that `id` completes; empty while a character is not whole.
  std::string push(int64_t id);

  /// What is still held back, as U+FFFD.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  std::vector<int64_t> ids_;  // since the last id before which nothing was held back
  size_t skip_ = 0;           // bytes of ids_'s text that were handed out
};

}  // namespace blockzoo
