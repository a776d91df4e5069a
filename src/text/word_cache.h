#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/word_table.h"

namespace blockzoo {

/// The ids of words that were seen before. Starts anew when it is full.
class WordCache {
 public:
  static constexpr size_t kLongestWord = 256;

  /// Appends the word's ids to `ids`, and asks append(ids) for them the first time.
  void encode(std::string_view word, std::vector<uint32_t>& ids, const auto& append) {
    if (word.size() > kLongestWord) return append(ids);
    if (words_.size() >= kMostWords) *this = WordCache();
    auto& range = words_(word).value;
    if (range.count == 0) {
      const auto from = ids.size();
      append(ids);
      range = {ids_.size(), static_cast<uint32_t>(ids.size() - from)};
      ids_.insert(ids_.end(), ids.begin() + static_cast<int64_t>(from), ids.end());
      return;
    }
    ids.insert(ids.end(), ids_.begin() + static_cast<int64_t>(range.begin),
               ids_.begin() + static_cast<int64_t>(range.begin + range.count));
  }

 private:
  static constexpr size_t kMostWords = size_t{1} << 17;

  struct Range {
    size_t begin = 0;
    uint32_t count = 0;  // 0: not known; a word without ids is asked for each time
  };

  WordTable<Range> words_;
  std::vector<uint32_t> ids_;
};

}  // namespace blockzoo
