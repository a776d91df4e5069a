#include "blockzoo/data/token_source.h"

#include <algorithm>

namespace blockzoo {

void TokenSource::read_lookback(int64_t, std::span<int64_t> out) const { std::fill(out.begin(), out.end(), 0); }

std::optional<int64_t> TokenSource::text_bytes(int64_t, int64_t) const { return std::nullopt; }

std::optional<double> TokenSource::information(std::span<const int64_t>, int64_t) const { return std::nullopt; }

}  // namespace blockzoo
