#include "text/unigram.h"

#include <algorithm>
#include <stdexcept>

#include "text/utf8.h"

namespace blockzoo {
namespace {

/// The best way to cut the text up to some place.
struct BestPath {
  double score = 0;
  int64_t begin = -1;  // of its last piece; below 0: no way is known
  int64_t id = -1;     // below 0: a character that no piece holds
};

}  // namespace

Unigram::Unigram(Config config) : config_(std::move(config)), id_of_(1, -1) {
  if (!config_.unknown && !config_.bytes)
    throw std::runtime_error("there is neither an unknown token nor a token for each byte");
  for (size_t id = 0; id < config_.pieces.size(); ++id) {
    if (!config_.pieces[id]) continue;
    uint32_t prefix = 0;
    for (const char c : *config_.pieces[id]) {
      auto& next = edges_(prefix, static_cast<uint8_t>(c));
      if (next == 0) {
        next = static_cast<uint32_t>(id_of_.size());
        id_of_.push_back(-1);
      }
      prefix = next;
    }
    id_of_[prefix] = static_cast<int64_t>(id);
  }
}

void Unigram::append(std::string_view word, std::vector<uint32_t>& ids) const {
  std::vector<BestPath> best(word.size() + 1);
  const auto offer = [&](size_t begin, size_t end, double score, int64_t id) {
    if (best[end].begin >= 0 && score <= best[end].score) return;
    best[end] = {score, static_cast<int64_t>(begin), id};
  };
  for (size_t begin = 0; begin < word.size();) {
    const auto character = utf8_step(word.substr(begin)).bytes;
    const auto before = best[begin].score;
    bool is_piece = false;
    uint32_t prefix = 0;
    for (size_t end = begin; end < word.size();) {
      const auto* next = edges_.find(prefix, static_cast<uint8_t>(word[end]));
      if (next == nullptr) break;
      prefix = *next;
      ++end;
      if (id_of_[prefix] < 0) continue;
      offer(begin, end, config_.scores[static_cast<size_t>(id_of_[prefix])] + before, id_of_[prefix]);
      is_piece = is_piece || end == begin + character;
    }
    if (!is_piece) offer(begin, begin + character, config_.unknown_score + before, -1);
    begin += character;
  }
  // From the end to the begin, and then turned round.
  const auto from = static_cast<int64_t>(ids.size());
  bool in_unknown = false;
  for (auto end = static_cast<int64_t>(word.size()); end > 0;) {
    const auto& piece = best[static_cast<size_t>(end)];
    const bool unknown = piece.id < 0;
    if (!unknown) {
      ids.push_back(static_cast<uint32_t>(piece.id));
    } else if (config_.bytes) {
      for (auto at = end; at > piece.begin; --at)
        ids.push_back((*config_.bytes)[static_cast<uint8_t>(word[static_cast<size_t>(at - 1)])]);
    } else if (!in_unknown) {
      ids.push_back(*config_.unknown);
    }
    in_unknown = unknown;
    end = piece.begin;
  }
  std::reverse(ids.begin() + from, ids.end());
}

}  // namespace blockzoo
