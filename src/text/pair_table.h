#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "blockzoo/core/hash.h"

namespace blockzoo {

/// A map from pairs of ids to `Value`, made for look-ups in the inner loops of byte-pair encoding.
template <class Value>
class PairTable {
 public:
  explicit PairTable(size_t expected = 0) : slots_(std::bit_ceil(std::max<size_t>(16, expected * 2))) {}

  static uint64_t key_of(uint32_t left, uint32_t right) { return (uint64_t{left} << 32) | right; }

  /// Null when absent. Pointers hold until the next insertion.
  const Value* find(uint32_t left, uint32_t right) const {
    const auto& slot = slots_[place(key_of(left, right))];
    return slot.key == kFree ? nullptr : &slot.value;
  }

  /// The pair's value; a new one is Value{}.
  Value& operator()(uint32_t left, uint32_t right) {
    const auto key = key_of(left, right);
    auto at = place(key);
    if (slots_[at].key == kFree) {
      if (++count_ * 2 > slots_.size()) {
        grow();
        at = place(key);
      }
      slots_[at].key = key;
    }
    return slots_[at].value;
  }

  size_t size() const { return count_; }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};  // no pair: ids stay below 2^32 - 1

  struct Slot {
    uint64_t key = kFree;
    Value value{};
  };

  size_t place(uint64_t key) const {
    const auto mask = slots_.size() - 1;
    auto at = mix(key) & mask;
    while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (auto& slot : old)
      if (slot.key != kFree) slots_[place(slot.key)] = std::move(slot);
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace blockzoo
