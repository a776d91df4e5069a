#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace blockzoo {

/// One field of a protobuf message.
struct WireField {
  uint64_t number = 0;
  uint64_t value = 0;        // of integers and of fixed bits
  std::string_view content;  // of strings and messages

  float as_float() const { return std::bit_cast<float>(static_cast<uint32_t>(value)); }
};

/// Reads a protobuf message field by field. Source: the protobuf encoding's documentation.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// False at the end. Errors: std::runtime_error when the message is cut short or not of this format.
  bool next(WireField& field) {
    if (rest_.empty()) return false;
    const auto tag = varint();
    field = {.number = tag >> 3, .value = 0, .content = {}};
    switch (tag & 7) {
      case 0:
        field.value = varint();
        return true;
      case 1:
        field.value = fixed(8);
        return true;
      case 2:
        field.content = take(varint());
        return true;
      case 5:
        field.value = fixed(4);
        return true;
      default:
        throw std::runtime_error("is no protobuf message");
    }
  }

 private:
  std::string_view take(uint64_t count) {
    if (count > rest_.size()) throw std::runtime_error("is cut short, or no protobuf message");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("is no protobuf message");
  }

  uint64_t fixed(uint64_t count) {
    uint64_t value = 0;
    const auto bytes = take(count);
    for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    return value;
  }

  std::string_view rest_;
};

}  // namespace blockzoo
