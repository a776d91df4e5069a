#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace blockzoo {

/// body(first, last) for parts of the tasks 0 to count, by all threads. Parts are handed out when a thread asks, large
/// ones first (guided self-scheduling, Polychronopoulos and Kuck 1987), so that nobody waits long for a thread whose
/// core others use too. What a task computes must not depend on the part that it is in.
template <class Body>
void in_parallel(size_t count, const Body& body) {
  const auto threads = std::min(static_cast<size_t>(at::get_num_threads()), count);
  std::atomic<size_t> next = 0;
  const auto work = [&](int64_t, int64_t) {
    for (size_t first = next; first < count;) {
      const auto last = first + std::max<size_t>(1, (count - first) / (2 * threads));
      if (!next.compare_exchange_weak(first, last)) continue;
      body(first, last);
      first = next;
    }
  };
  at::parallel_for(0, static_cast<int64_t>(threads), 1, work);
}

}  // namespace blockzoo
