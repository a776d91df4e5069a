#include "text/learn_merges.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "text/pair_table.h"

namespace blockzoo {
namespace {

/// The same order, and the same accounts, as the trainer of `tokenizers` keeps: one token may come from several pairs,
/// a pair then waits in the queue more than once, each time with the words it was found in since, and its count is not
/// taken back when it is merged. Whoever counts otherwise learns other merges.
class MergeLearner {
 public:
  MergeLearner(CountedWords words, std::vector<std::string> tokens)
      : words_(std::move(words)), sizes_(words_.counts.size()) {
    learnt_.tokens = std::move(tokens);
    for (uint32_t id = 0; id < learnt_.tokens.size(); ++id) ids_.emplace(learnt_.tokens[id], id);
    for (uint32_t word = 0; word < sizes_.size(); ++word) {
      sizes_[word] = words_.begins[word + 1] - words_.begins[word];
      const auto* id = words_.ids.data() + words_.begins[word];
      for (size_t i = 0; i + 1 < sizes_[word]; ++i) add(id[i], id[i + 1], word);
    }
    enqueue_found();
  }

  LearntMerges learn(size_t vocabulary, int64_t min_frequency, const std::function<void(double)>& progress) {
    const auto start = learnt_.tokens.size();
    while (learnt_.tokens.size() < vocabulary && !queue_.empty()) {
      auto top = queue_.top();
      queue_.pop();
      const auto count = pairs_.find(top.left, top.right)->count;
      if (top.count != count) {
        top.count = count;
        queue_.push(top);
        continue;
      }
      if (count < 1 || count < min_frequency) break;
      merge(top);
      progress(static_cast<double>(learnt_.tokens.size() - start) / static_cast<double>(vocabulary - start));
    }
    keep_last_of_each_pair();
    return std::move(learnt_);
  }

 private:
  static constexpr uint32_t kNotFound = ~uint32_t{0};

  struct Pair {
    int64_t count = 0;
    uint32_t found = kNotFound;  // its place in found_
  };

  struct Waiting {
    int64_t count;
    uint32_t left;
    uint32_t right;
    uint32_t words;  // place in word_lists_
    bool operator<(const Waiting& other) const {
      if (count != other.count) return count < other.count;
      return std::pair(left, right) > std::pair(other.left, other.right);
    }
  };

  struct Found {
    uint32_t left;
    uint32_t right;
    std::vector<uint32_t> words;
  };

  /// The pair stands once more in each of a word's occurrences.
  void add(uint32_t left, uint32_t right, uint32_t word) {
    auto& pair = pairs_(left, right);
    pair.count += words_.counts[word];
    if (pair.found == kNotFound) {
      pair.found = static_cast<uint32_t>(found_.size());
      found_.push_back({left, right, {}});
    }
    auto& words = found_[pair.found].words;
    if (words.empty() || words.back() != word) words.push_back(word);  // words come one after the other
  }

  void take(uint32_t left, uint32_t right, uint32_t word) { pairs_(left, right).count -= words_.counts[word]; }

  void enqueue_found() {
    for (auto& found : found_) {
      auto& pair = pairs_(found.left, found.right);
      pair.found = kNotFound;
      if (pair.count <= 0) continue;
      queue_.push({pair.count, found.left, found.right, static_cast<uint32_t>(word_lists_.size())});
      word_lists_.push_back(std::move(found.words));
    }
    found_.clear();
  }

  void merge(const Waiting& top) {
    const auto name = learnt_.tokens[top.left] + learnt_.tokens[top.right];
    const auto [known, fresh] = ids_.emplace(name, static_cast<uint32_t>(learnt_.tokens.size()));
    if (fresh) learnt_.tokens.push_back(name);
    learnt_.merges.emplace_back(top.left, top.right);
    const auto words = std::move(word_lists_[top.words]);
    for (const auto word : words) merge_in(word, top, known->second);
    enqueue_found();
  }

  void merge_in(uint32_t word, const Waiting& pair, uint32_t merged) {
    auto* const id = words_.ids.data() + words_.begins[word];
    const auto size = sizes_[word];
    size_t kept = 0;
    for (size_t i = 0; i < size; ++kept) {
      if (i + 1 == size || id[i] != pair.left || id[i + 1] != pair.right) {
        id[kept] = id[i++];
        continue;
      }
      if (kept > 0) {
        take(id[kept - 1], pair.left, word);
        add(id[kept - 1], merged, word);
      }
      if (i + 2 < size) {
        take(pair.right, id[i + 2], word);
        add(merged, id[i + 2], word);
      }
      id[kept] = merged;
      i += 2;
    }
    sizes_[word] = kept;
  }

  void keep_last_of_each_pair() {
    std::unordered_set<uint64_t> seen;
    std::vector<std::pair<uint32_t, uint32_t>> kept;
    for (auto merge = learnt_.merges.rbegin(); merge != learnt_.merges.rend(); ++merge)
      if (seen.insert(PairTable<Pair>::key_of(merge->first, merge->second)).second) kept.push_back(*merge);
    std::reverse(kept.begin(), kept.end());
    learnt_.merges = std::move(kept);
  }

  CountedWords words_;
  std::vector<size_t> sizes_;  // of each word, now
  LearntMerges learnt_;
  std::unordered_map<std::string, uint32_t> ids_;
  PairTable<Pair> pairs_;
  std::vector<Found> found_;
  std::priority_queue<Waiting> queue_;
  std::deque<std::vector<uint32_t>> word_lists_;
};

}  // namespace

LearntMerges learn_merges(CountedWords words, std::vector<std::string> tokens, size_t vocabulary, int64_t min_frequency,
                          const std::function<void(double)>& progress) {
  return MergeLearner(std::move(words), std::move(tokens)).learn(vocabulary, min_frequency, progress);
}

}  // namespace blockzoo
