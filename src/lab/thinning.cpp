#include "lab/thinning.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace blockzoo {

Envelope envelope_of(const std::vector<const std::vector<double>*>& series) {
  if (series.empty()) return {};
  Envelope result{*series.front(), *series.front()};
  for (const auto* one : series) {
    for (size_t i = 0; i < one->size(); ++i) {
      result.low[i] = std::fmin(result.low[i], (*one)[i]);  // the other one when one is NaN
      result.high[i] = std::fmax(result.high[i], (*one)[i]);
    }
  }
  return result;
}

std::vector<size_t> kept_points(size_t size, const std::vector<Envelope>& envelopes, size_t limit) {
  if (size <= limit) {
    std::vector<size_t> all(size);
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }
  std::set<size_t> kept{0, size - 1};
  const auto stretches = std::max<size_t>(1, limit / std::max<size_t>(1, 2 * envelopes.size()));
  for (size_t stretch = 0; stretch < stretches; ++stretch) {
    const auto first = size * stretch / stretches, end = size * (stretch + 1) / stretches;
    for (const auto& [low, high] : envelopes) {
      auto lowest = end, highest = end;
      for (auto i = first; i < end; ++i) {
        if (!std::isnan(low[i]) && (lowest == end || low[i] < low[lowest])) lowest = i;
        if (!std::isnan(high[i]) && (highest == end || high[i] > high[highest])) highest = i;
      }
      if (lowest < end) kept.insert(lowest);
      if (highest < end) kept.insert(highest);
    }
  }
  return {kept.begin(), kept.end()};
}

}  // namespace blockzoo
