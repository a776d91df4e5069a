#pragma once

#include <vector>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// Numbers in [-1, 1) that bfloat16 holds too, and whose products float32 adds up without rounding.
template <class T>
std::vector<T> small_numbers(size_t count, size_t seed) {
  std::vector<T> numbers(count);
  for (size_t i = 0; i < count; ++i) put(static_cast<float>((i * 37 + seed * 11) % 64) / 32 - 1, &numbers[i]);
  return numbers;
}

}  // namespace blockzoo::rows
