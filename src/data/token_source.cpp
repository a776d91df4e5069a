#include "blockzoo/data/token_source.h"

#include <algorithm>

namespace blockzoo {

void TokenSource::read_lookback(int64_t, std::span<int64_t> out) const { std::fill(out.begin(), out.end(), 0); }

}  // namespace blockzoo
