#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/hub/tensor_info.h"

namespace blockzoo {

/// The JSON part of a safetensors file: tensors in the order of their bytes, and the "__metadata__" texts.
struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

/// The largest header that is read, as in the reference implementation.
inline constexpr uint64_t max_header_bytes = 100'000'000;

/// The header's length from the file's first bytes (up to eight), checked against the size of the whole file.
/// Throws std::runtime_error("<file>: ...").
uint64_t read_header_length(std::string_view first_bytes, uint64_t file_bytes, const std::string& file);

/// Reads the JSON strictly: known keys only, no name twice, offsets that agree with type and shape and cover the
/// `data_bytes` after the header exactly once. Needs memory in proportion to `json`, whatever the file claims.
/// Throws std::runtime_error("<file>: <tensor or field>: what is wrong").
SafetensorsHeader parse_header(std::string_view json, uint64_t data_bytes, const std::string& file);

/// Length, JSON and blanks up to a multiple of eight bytes: what stands before the data.
/// Throws std::runtime_error for a name or metadata text that is not UTF-8.
std::string format_header(const SafetensorsHeader& header);

/// In quotes for an error message: cut when long, and with no control characters.
std::string quote(std::string_view text);

/// "[2, 3]".
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace blockzoo
