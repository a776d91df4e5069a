#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace blockzoo {

/// FNV-1a over the bytes, 64 bits: equal on every machine. `start` chains calls.
constexpr uint64_t hash_bytes(std::string_view bytes, uint64_t start = 0xcbf29ce484222325ULL) {
  for (const char byte : bytes) start = (start ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return start;
}

/// SplitMix64's finaliser (Steele et al. 2014): every input bit reaches every output bit.
constexpr uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// A seed for one named purpose: seed_for(seed, "dropout", step). The factor keeps seed and index apart: without it
/// seed 1 at index 0 would be seed 2 at index 1.
constexpr uint64_t seed_for(uint64_t seed, std::string_view purpose, uint64_t index = 0) {
  return mix(mix(seed * 0xd6e8feb86659fd93ULL) ^ hash_bytes(purpose) ^ mix(index + 1));
}

/// Sixteen hexadecimal digits.
std::string hex(uint64_t value);

}  // namespace blockzoo
