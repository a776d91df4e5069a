#include "text/bpe.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "text/utf8.h"

namespace blockzoo {
namespace {

constexpr size_t kShortWord = 32;  // up to here a scan for the best pair is faster than a queue
constexpr uint32_t kNoMerge = std::numeric_limits<uint32_t>::max();

}  // namespace

Bpe::Bpe(Config config) : config_(std::move(config)), merges_(config_.merges.size()) {
  byte_ids_.fill(-1);
  for (uint32_t id = 0; id < config_.tokens.size(); ++id) {
    const auto& token = config_.tokens[id];
    if (!token) continue;
    ids_.emplace(*token, id);
    if (token->size() == 1) byte_ids_[static_cast<uint8_t>((*token)[0])] = id;
  }
  for (uint32_t i = 0; i < config_.merges.size(); ++i) {
    const auto [left, right] = config_.merges[i];
    merges_(left, right) = {i, config_.merged[i]};  // of two equal pairs the last counts, as in `tokenizers`
  }
}

void Bpe::append(std::string_view word, std::vector<uint32_t>& ids) const {
  const auto whole = config_.ignore_merges ? ids_.find(word) : ids_.end();
  if (whole != ids_.end()) {
    ids.push_back(whole->second);
    return;
  }
  const auto from = ids.size();
  start(word, ids);
  if (ids.size() - from <= kShortWord) {
    merge_short(ids, from);
  } else {
    merge_long(ids, from);
  }
}

void Bpe::start(std::string_view word, std::vector<uint32_t>& ids) const {
  if (config_.unit == BpeUnit::kByte) {
    for (const char c : word) {
      const auto id = byte_ids_[static_cast<uint8_t>(c)];
      if (id >= 0) ids.push_back(static_cast<uint32_t>(id));
    }
    return;
  }
  // A row of characters that are not known is written when it ends, as `tokenizers` does; bytes in it come first.
  bool unknown_waits = false;
  const auto has_id = [&](char c) { return (*config_.bytes)[static_cast<uint8_t>(c)] != kNoByte; };
  const auto flush = [&] {
    if (unknown_waits) ids.push_back(*config_.unknown);
    unknown_waits = false;
  };
  while (!word.empty()) {
    const auto character = word.substr(0, utf8_step(word).bytes);
    word.remove_prefix(character.size());
    const auto known = ids_.find(character);
    if (known != ids_.end()) {
      flush();
      ids.push_back(known->second);
    } else if (config_.bytes && std::all_of(character.begin(), character.end(), has_id)) {
      for (const char c : character) ids.push_back((*config_.bytes)[static_cast<uint8_t>(c)]);
    } else if (config_.unknown) {
      if (!config_.fuse_unknown) flush();
      unknown_waits = true;
    }
  }
  flush();
}

void Bpe::merge_short(std::vector<uint32_t>& ids, size_t from) const {
  std::array<Merge, kShortWord> next;  // of ids[from + i] and the one after it
  auto count = ids.size() - from;
  const auto look = [&](size_t i) {
    const auto* merge = merges_.find(ids[from + i], ids[from + i + 1]);
    next[i] = merge != nullptr ? *merge : Merge{kNoMerge, 0};
  };
  for (size_t i = 0; i + 1 < count; ++i) look(i);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i)
      if (next[i].rank < next[best].rank) best = i;
    if (next[best].rank == kNoMerge) break;
    ids[from + best] = next[best].id;
    --count;
    for (size_t i = best + 1; i < count; ++i) {
      ids[from + i] = ids[from + i + 1];
      next[i - 1] = next[i];
    }
    if (best > 0) look(best - 1);
    if (best + 1 < count) look(best);
  }
  ids.resize(from + count);
}

void Bpe::merge_long(std::vector<uint32_t>& ids, size_t from) const {
  struct Node {
    int64_t before;
    int64_t after;
    bool gone = false;
  };
  struct Candidate {
    uint32_t rank;
    uint32_t at;
    uint32_t left;
    uint32_t right;
    bool operator<(const Candidate& other) const { return std::pair(rank, at) > std::pair(other.rank, other.at); }
  };
  const auto count = static_cast<int64_t>(ids.size() - from);
  auto* const id = ids.data() + from;
  std::vector<Node> nodes(static_cast<size_t>(count));
  std::vector<Candidate> first;
  const auto candidate = [&](int64_t left, int64_t right, auto push) {
    if (left < 0 || right >= count) return;
    if (const auto* merge = merges_.find(id[left], id[right]))
      push(Candidate{merge->rank, static_cast<uint32_t>(left), id[left], id[right]});
  };
  for (int64_t i = 0; i < count; ++i) {
    nodes[static_cast<size_t>(i)] = {i - 1, i + 1};
    candidate(i, i + 1, [&](const Candidate& c) { first.push_back(c); });
  }
  std::priority_queue<Candidate> queue(std::less<Candidate>(), std::move(first));
  while (!queue.empty()) {
    const auto top = queue.top();
    queue.pop();
    auto& left = nodes[top.at];
    if (left.gone || left.after >= count || id[top.at] != top.left || id[left.after] != top.right) continue;
    auto& right = nodes[static_cast<size_t>(left.after)];
    id[top.at] = merges_.find(top.left, top.right)->id;
    right.gone = true;
    left.after = right.after;
    if (left.after < count) nodes[static_cast<size_t>(left.after)].before = top.at;
    const auto push = [&](const Candidate& c) { queue.push(c); };
    candidate(left.before, top.at, push);
    candidate(top.at, left.after, push);
  }
  size_t kept = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!nodes[i].gone) id[kept++] = id[i];
  ids.resize(from + kept);
}

}  // namespace blockzoo
