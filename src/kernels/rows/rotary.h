#pragma once

#include <cstddef>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

enum class Pairs { kHalf, kInterleaved };

/// x [sequences, length, heads, width], of which the first `channels` of each head turn.
struct RotaryShape {
  size_t sequences = 0;
  size_t length = 0;
  size_t heads = 0;
  size_t width = 0;
  size_t channels = 0;
  Pairs pairs = Pairs::kHalf;
};

/// (a, b) becomes (a cos - b sin, a sin + b cos) for positions first to last of every sequence; cosine and sine are
/// [length, channels / 2]. `sense` is 1, or -1 to turn back.
void rotate(const RotaryShape& shape, size_t first, size_t last, float sense, const float* x, const float* cosine,
            const float* sine, float* y);
void rotate(const RotaryShape& shape, size_t first, size_t last, float sense, const Bf16* x, const float* cosine,
            const float* sine, Bf16* y);

}  // namespace blockzoo::rows
