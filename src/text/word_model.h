#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/word_cache.h"

namespace blockzoo {

/// What makes tokens of a word, a text that pre-tokenizers cut no further. Safe to use from several threads.
class WordModel {
 public:
  virtual ~WordModel() = default;

  /// Appends the word's ids. `cache` belongs to the caller, and to this object.
  void encode(std::string_view word, WordCache& cache, std::vector<uint32_t>& ids) const {
    if (!word.empty()) cache.encode(word, ids, [&](std::vector<uint32_t>& out) { append(word, out); });
  }

 private:
  virtual void append(std::string_view word, std::vector<uint32_t>& ids) const = 0;
};

}  // namespace blockzoo
