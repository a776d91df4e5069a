#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/core/hash.h"

namespace blockzoo {

/// A map from words, which are not empty, to `Value`. The words lie one after the other in one buffer.
template <class Value>
class WordTable {
 public:
  struct Slot {
    uint64_t hash = 0;
    size_t begin = 0;
    uint32_t size = 0;  // bytes; 0: free
    Value value{};
  };

  /// The word's slot, new with Value{} when it was not there; valid until the next call.
  Slot& operator()(std::string_view word) {
    const auto hash = hash_of(word);
    auto* slot = place(hash, word);
    if (slot->size == 0) {
      if (++count_ * 2 > slots_.size()) {
        grow();
        slot = place(hash, word);
      }
      *slot = {hash, text_.size(), static_cast<uint32_t>(word.size()), Value{}};
      text_ += word;
    }
    return *slot;
  }

  size_t size() const { return count_; }

  std::string_view word(const Slot& slot) const { return std::string_view(text_).substr(slot.begin, slot.size); }

  /// Calls visit(word, value) for all words, in no order.
  void each(const auto& visit) const {
    for (const auto& slot : slots_)
      if (slot.size != 0) visit(word(slot), slot.value);
  }

  void clear() {
    slots_.assign(kSlots, {});
    text_.clear();
    count_ = 0;
  }

 private:
  static constexpr size_t kSlots = size_t{1} << 12;

  static uint64_t hash_of(std::string_view word) {
    uint64_t hash = word.size();
    while (word.size() >= 8) {
      uint64_t block = 0;
      std::memcpy(&block, word.data(), 8);
      hash = (hash ^ block) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 29;
      word.remove_prefix(8);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, word.data(), word.size());
    return mix(hash ^ rest);
  }

  Slot* place(uint64_t hash, std::string_view wanted) {
    const auto mask = slots_.size() - 1;
    auto at = hash & mask;
    while (slots_[at].size != 0 && (slots_[at].hash != hash || word(slots_[at]) != wanted)) at = (at + 1) & mask;
    return &slots_[at];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (auto& slot : old)
      if (slot.size != 0) *place(slot.hash, word(slot)) = std::move(slot);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  std::string text_;
  size_t count_ = 0;
};

}  // namespace blockzoo
