#pragma once

#include <cstddef>

namespace blockzoo::rows {

/// The sum of x^2 over `count` numbers, squared and added in float64.
double square_sum(const float* x, size_t count);

}  // namespace blockzoo::rows
