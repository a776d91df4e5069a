#pragma once

#include "blockzoo/kernels/attention.h"

namespace blockzoo {

/// Whether attend_in_tiles can stand for attend here: float32 or bfloat16 on the CPU, more than one query, no
/// absent keys and no bias that learns.
bool tiles_fit(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options);

/// attend() in tiles of the scores: memory grows as T, and time as T x window. Products, softmax and sums in float32.
/// Dropout takes one number from the default generator; from it follows which weights fall.
Tensor attend_in_tiles(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options);

}  // namespace blockzoo
