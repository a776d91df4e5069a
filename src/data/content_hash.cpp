#include "data/content_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "blockzoo/core/hash.h"

namespace blockzoo {

static_assert(std::endian::native == std::endian::little, "hashes and token files are read as little-endian words");

void ContentHash::take(const std::byte* block) {
  std::array<uint64_t, 4> words;
  std::memcpy(words.data(), block, kBlock);
  for (size_t i = 0; i < 4; ++i) {
    const uint64_t product = (lanes_[i] ^ words[i]) * 0x9e3779b97f4a7c15ULL;
    lanes_[i] = product ^ std::rotl(product, 29) ^ (product >> 47);
  }
}

void ContentHash::update(std::span<const std::byte> bytes) {
  const size_t filled = size_ % kBlock;
  size_ += bytes.size();
  if (filled > 0) {
    const size_t count = std::min(kBlock - filled, bytes.size());
    std::copy_n(bytes.begin(), count, pending_.begin() + static_cast<std::ptrdiff_t>(filled));
    bytes = bytes.subspan(count);
    if (filled + count < kBlock) return;
    take(pending_.data());
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) take(bytes.data());
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

uint64_t ContentHash::digest() const {
  uint64_t value = mix(size_);
  for (const uint64_t lane : lanes_) value = mix(value ^ lane);
  const auto rest = std::span(pending_).first(size_ % kBlock);
  return mix(value ^ hash_bytes({reinterpret_cast<const char*>(rest.data()), rest.size()}));
}

}  // namespace blockzoo
