#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "blockzoo/core/hash.h"

namespace blockzoo {

/// A 64-bit checksum of a stream of bytes, eight at a time: it finds torn and damaged files, it does not stop a forger.
/// The value does not depend on how the stream was cut into updates.
class ByteHash {
 public:
  void update(std::string_view bytes) {
    while (!bytes.empty() && (pending_ > 0 || bytes.size() < sizeof(word_))) {
      const auto take = std::min(bytes.size(), sizeof(word_) - pending_);
      std::memcpy(reinterpret_cast<char*>(&word_) + pending_, bytes.data(), take);
      bytes.remove_prefix(take);
      count_ += take;
      if ((pending_ += take) == sizeof(word_)) flush();
    }
    for (; bytes.size() >= sizeof(word_); bytes.remove_prefix(sizeof(word_))) {
      std::memcpy(&word_, bytes.data(), sizeof(word_));
      count_ += sizeof(word_);
      flush();
    }
    if (!bytes.empty()) update(bytes);
  }

  uint64_t value() const { return mix((pending_ > 0 ? mix(state_ ^ word_) : state_) ^ count_); }
  uint64_t count() const { return count_; }

 private:
  static_assert(std::endian::native == std::endian::little, "files are little endian and are written as they lie");

  void flush() {
    state_ = mix(state_ ^ word_);
    word_ = 0;
    pending_ = 0;
  }

  uint64_t state_ = 0x6a09e667f3bcc908ULL;
  uint64_t word_ = 0;
  uint64_t count_ = 0;
  size_t pending_ = 0;  // bytes of word_ that are filled
};

}  // namespace blockzoo
