#pragma once

#include <cstdint>

namespace blockzoo::rows {

/// A bfloat16 in memory: the upper half of a float32.
struct Bf16 {
  uint16_t bits;
};

}  // namespace blockzoo::rows
