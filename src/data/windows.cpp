#include "blockzoo/data/windows.h"

#include <algorithm>

#include "blockzoo/core/hash.h"
#include "blockzoo/data/permutation.h"

namespace blockzoo {

WindowOrder::WindowOrder(int64_t tokens, int64_t context, uint64_t seed)
    : tokens_(tokens), context_(context), seed_(seed), windows_((tokens - 1) / context) {}

int64_t WindowOrder::start(int64_t position) const {
  const auto epoch = static_cast<uint64_t>(position / windows_);
  const Permutation order(static_cast<uint64_t>(windows_), seed_for(seed_, "window order", epoch));
  const auto window = static_cast<int64_t>(order(static_cast<uint64_t>(position % windows_)));
  const auto phase = static_cast<int64_t>(seed_for(seed_, "window phase", epoch) % static_cast<uint64_t>(context_));
  return std::min(phase + window * context_, tokens_ - context_ - 1);
}

std::vector<int64_t> even_windows(int64_t tokens, int64_t context, int64_t count) {
  const int64_t fitting = (tokens - 1) / context;
  if (count <= 0 || count > fitting) count = fitting;
  std::vector<int64_t> starts(static_cast<size_t>(count), 0);
  if (count == 1) return starts;
  const int64_t last = tokens - context - 1;
  const int64_t gaps = count - 1;
  for (int64_t i = 0; i < count; ++i) starts[static_cast<size_t>(i)] = i * (last / gaps) + i * (last % gaps) / gaps;
  return starts;
}

}  // namespace blockzoo
