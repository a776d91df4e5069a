#include "blockzoo/data/permutation.h"

#include <bit>
#include <stdexcept>
#include <string>

#include "blockzoo/core/hash.h"

namespace blockzoo {

namespace {

constexpr int kRounds = 6;

uint64_t feistel(uint64_t index, uint64_t key, int half_bits) {
  const uint64_t mask = (uint64_t{1} << half_bits) - 1;
  uint64_t left = index >> half_bits;
  uint64_t right = index & mask;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const uint64_t next = left ^ (mix(mix(key + round) ^ right) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

}  // namespace

Permutation::Permutation(uint64_t size, uint64_t key)
    : size_(size), key_(key), half_bits_(size > 4 ? (std::bit_width(size - 1) + 1) / 2 : 1) {}

uint64_t Permutation::operator()(uint64_t index) const {
  if (index >= size_)
    throw std::out_of_range("permutation index " + std::to_string(index) + " of " + std::to_string(size_));
  do {
    index = feistel(index, key_, half_bits_);
  } while (index >= size_);
  return index;
}

}  // namespace blockzoo
