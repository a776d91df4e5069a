#pragma once

#include <cstdint>

namespace blockzoo {

/// A pseudo-random bijection of 0 .. size - 1 that needs no memory: a Feistel network on the next power of four, its
/// output fed back until it falls below `size` (cycle walking), under four rounds of use on average.
/// Source: Black and Rogaway 2002, "Ciphers with arbitrary finite domains".
class Permutation {
 public:
  Permutation(uint64_t size, uint64_t key);

  /// The image of `index`. Errors: std::out_of_range unless index < size.
  uint64_t operator()(uint64_t index) const;

 private:
  uint64_t size_;
  uint64_t key_;
  int half_bits_;
};

}  // namespace blockzoo
