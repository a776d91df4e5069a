#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockzoo {

/// Element types that a safetensors file may hold, out of those that LibTorch computes with.
enum class StoredType { kF64, kF32, kF16, kBf16, kI64, kI32, kI16, kI8, kU8, kBool };

constexpr auto names(StoredType) {
  using enum StoredType;
  return std::to_array<std::pair<StoredType, std::string_view>>({{kF64, "F64"},
                                                                 {kF32, "F32"},
                                                                 {kF16, "F16"},
                                                                 {kBf16, "BF16"},
                                                                 {kI64, "I64"},
                                                                 {kI32, "I32"},
                                                                 {kI16, "I16"},
                                                                 {kI8, "I8"},
                                                                 {kU8, "U8"},
                                                                 {kBool, "BOOL"}});
}

/// Bytes of one element.
constexpr uint64_t size_of(StoredType type) {
  switch (type) {
    case StoredType::kF64:
    case StoredType::kI64:
      return 8;
    case StoredType::kF32:
    case StoredType::kI32:
      return 4;
    case StoredType::kF16:
    case StoredType::kBf16:
    case StoredType::kI16:
      return 2;
    default:
      return 1;
  }
}

/// One tensor of a file. Its bytes are [begin, end), counted from the end of the header.
struct TensorInfo {
  std::string name;
  StoredType type = StoredType::kF32;
  std::vector<int64_t> shape = {};
  uint64_t begin = 0;
  uint64_t end = 0;
};

}  // namespace blockzoo
