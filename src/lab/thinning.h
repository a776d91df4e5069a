#pragma once

#include <cstddef>
#include <vector>

namespace blockzoo {

/// The lowest and the highest of several series at each point; NaN where no series has a value.
struct Envelope {
  std::vector<double> low;
  std::vector<double> high;
};
Envelope envelope_of(const std::vector<const std::vector<double>*>& series);

/// Indices, rising, of about `limit` of `size` points: the first, the last, and of each of equal stretches the places
/// where each envelope is lowest and highest. All of them when there are no more than `limit`.
std::vector<size_t> kept_points(size_t size, const std::vector<Envelope>& envelopes, size_t limit);

}  // namespace blockzoo
