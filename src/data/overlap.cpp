#include "blockzoo/data/overlap.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <unordered_map>

#include "blockzoo/core/hash.h"

namespace blockzoo {
namespace {

constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ULL;  // odd, so that no token is lost
constexpr int64_t kRead = 1 << 18;                   // tokens at a time

uint64_t appended(uint64_t hash, int64_t token) { return hash * kFactor + mix(static_cast<uint64_t>(token)); }

std::vector<int64_t> window_at(const ValidationWindows& validation, int64_t index) {
  const auto batch = validation.read(index, 1);
  const auto* inputs = batch.inputs.const_data_ptr<int64_t>();
  std::vector<int64_t> tokens(inputs, inputs + batch.inputs.numel());
  tokens.push_back(batch.targets.const_data_ptr<int64_t>()[batch.targets.numel() - 1]);
  return tokens;
}

bool stands_at(const TokenSource& train, int64_t begin, const std::vector<int64_t>& window) {
  std::vector<int64_t> found(window.size());
  train.read(begin, found);
  return found == window;
}

}  // namespace

int64_t windows_in_training_data(const TokenSource& train, const ValidationWindows& validation) {
  const auto length = validation.context() + 1;
  if (train.size() < length) return 0;
  std::unordered_multimap<uint64_t, int64_t> wanted;  // by hash
  for (int64_t i = 0; i < validation.size(); ++i) {
    uint64_t hash = 0;
    for (const auto token : window_at(validation, i)) hash = appended(hash, token);
    wanted.emplace(hash, i);
  }
  uint64_t leaving_factor = 1;  // of the token that leaves a window
  for (int64_t i = 0; i < length; ++i) leaving_factor *= kFactor;

  int64_t found = 0;
  uint64_t hash = 0;
  std::vector<int64_t> read(static_cast<size_t>(length));  // the last window's tokens, then those read behind them
  for (int64_t first = 0; first < train.size(); first += kRead) {
    const auto count = std::min(kRead, train.size() - first);
    read.resize(static_cast<size_t>(length + count));
    train.read(first, std::span(read).subspan(static_cast<size_t>(length)));
    for (int64_t i = 0; i < count; ++i) {
      hash = appended(hash, read[static_cast<size_t>(length + i)]);
      const auto begin = first + i + 1 - length;
      if (begin > 0) hash -= leaving_factor * mix(static_cast<uint64_t>(read[static_cast<size_t>(i)]));
      if (begin < 0) continue;
      for (auto [entry, end] = wanted.equal_range(hash); entry != end;) {
        const bool same = stands_at(train, begin, window_at(validation, entry->second));
        found += same;
        entry = same ? wanted.erase(entry) : std::next(entry);
      }
    }
    std::copy(read.end() - length, read.end(), read.begin());
  }
  return found;
}

}  // namespace blockzoo
