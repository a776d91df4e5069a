#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "blockzoo/core/hash.h"

namespace blockzoo {

/// A 64-bit checksum of a stream of bytes: it finds torn and damaged files, it does not stop a forger. Its value does
/// not depend on how the stream was cut into updates. Four chains of mix() run side by side to keep up with a disk.
class ByteHash {
 public:
  void update(std::string_view bytes) {
    count_ += bytes.size();
    while (!bytes.empty()) {
      const auto take = std::min(bytes.size(), sizeof(block_) - filled_);
      std::memcpy(reinterpret_cast<char*>(block_.data()) + filled_, bytes.data(), take);
      bytes.remove_prefix(take);
      if ((filled_ += take) == sizeof(block_)) absorb();
    }
  }

  uint64_t value() const {
    auto rest = *this;
    std::memset(reinterpret_cast<char*>(rest.block_.data()) + filled_, 0, sizeof(block_) - filled_);
    rest.absorb();
    auto result = count_;
    for (const auto chain : rest.chains_) result = mix(result ^ chain);
    return result;
  }

  uint64_t count() const { return count_; }

 private:
  static_assert(std::endian::native == std::endian::little, "files are little endian and are written as they lie");

  void absorb() {
    for (size_t i = 0; i < block_.size(); ++i) {
      auto& chain = chains_[i % chains_.size()];
      chain = mix(chain ^ block_[i]);
    }
    filled_ = 0;
  }

  std::array<uint64_t, 4> chains_ = {1, 2, 3, 4};
  std::array<uint64_t, 32> block_ = {};
  size_t filled_ = 0;  // bytes of block_
  uint64_t count_ = 0;
};

}  // namespace blockzoo
