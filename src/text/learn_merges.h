#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace blockzoo {

/// Different words as ids of their first tokens, and how often each was seen.
struct CountedWords {
  std::vector<uint32_t> ids;   // of all words, one after the other
  std::vector<size_t> begins;  // of each word in `ids`; one more than words
  std::vector<int64_t> counts;
};

struct LearntMerges {
  std::vector<std::string> tokens;                    // by id
  std::vector<std::pair<uint32_t, uint32_t>> merges;  // in order; each pair once
};

/// Byte-pair encoding's training. `tokens` are those there are already; merging stops at `vocabulary` of them.
/// Source: Sennrich et al. 2016, arXiv:1508.07909, algorithm 1.
LearntMerges learn_merges(CountedWords words, std::vector<std::string> tokens, size_t vocabulary, int64_t min_frequency,
                          const std::function<void(double)>& progress);

}  // namespace blockzoo
