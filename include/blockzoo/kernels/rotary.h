#pragma once

#include "blockzoo/nn/position/rope.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

/// The first R channels of each head turn in pairs (a, b): (a cos - b sin, a sin + b cos); the rest passes through.
/// Shapes:    x [B, T, heads, K], cosine and sine (float32, no gradient) [places, 1, R/2], whose rows from `first` on
///            are x's, or [B, T, 1, R/2] when rows stand at places of their own -> y, as x.
/// Precision: float32 or wider; y has x's dtype.
Tensor rotate_pairs(const Tensor& x, const Tensor& cosine, const Tensor& sine, RopePairing pairing, int64_t first = 0);

}  // namespace blockzoo
