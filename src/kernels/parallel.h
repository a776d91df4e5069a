#pragma once

#include <ATen/Parallel.h>

#include <cstddef>

namespace blockzoo {

/// body(first, last) for parts of the tasks 0 to count, by all threads.
template <class Body>
void in_parallel(size_t count, const Body& body) {
  at::parallel_for(0, static_cast<int64_t>(count), 1,
                   [&](int64_t first, int64_t last) { body(static_cast<size_t>(first), static_cast<size_t>(last)); });
}

}  // namespace blockzoo
