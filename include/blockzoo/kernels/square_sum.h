#pragma once

#include <vector>

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// The sum of the squares of all numbers in some tensors, in float64 and in an order that does not depend on the number
/// of threads: bit for bit the same whenever it is repeated.
double square_sum(const std::vector<Tensor>& tensors);

}  // namespace blockzoo
