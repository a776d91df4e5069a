#pragma once

#include <cstdint>
#include <cstring>

namespace blockzoo::rows {

/// A bfloat16 in memory: the upper half of a float32.
struct Bf16 {
  uint16_t bits;
};

/// Two of them side by side in memory.
struct Bf16Pair {
  Bf16 first, second;
};

inline float wide(float x) { return x; }

inline float wide(Bf16 x) {
  const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline void put(float value, float* to) { *to = value; }

/// To the nearest, ties to even; NaN stays NaN.
inline void put(float value, Bf16* to) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto rounded = bits + 0x7fff + (bits >> 16 & 1);
  to->bits = static_cast<uint16_t>((value != value ? 0x7fc00000 : rounded) >> 16);
}

}  // namespace blockzoo::rows
