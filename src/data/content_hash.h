#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace blockzoo {

/// A 64-bit hash of a long run of bytes, about as fast as memory is read: four lanes that each take every fourth
/// eight-byte word. Equal on every little-endian machine and however the bytes are cut into calls. Not against forgery.
class ContentHash {
 public:
  void update(std::span<const std::byte> bytes);
  uint64_t digest() const;

 private:
  static constexpr size_t kBlock = 32;

  void take(const std::byte* block);

  std::array<uint64_t, 4> lanes_{1, 2, 3, 4};
  std::array<std::byte, kBlock> pending_{};
  uint64_t size_ = 0;
};

}  // namespace blockzoo
