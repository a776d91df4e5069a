#include "hub/safetensors_header.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "blockzoo/core/names.h"

namespace blockzoo {

namespace {

constexpr std::string_view metadata_key = "__metadata__";
constexpr size_t max_dims = 64;

[[noreturn]] void refuse(const std::string& file, const std::string& problem) {
  throw std::runtime_error(file + ": " + problem);
}

/// Receives the JSON piece by piece, so that a repeated name is seen and nesting costs no stack.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  std::map<std::string, TensorInfo> tensors;
  std::map<std::string, std::string> metadata;

  bool null() { return scalar("null"); }
  bool boolean(bool) { return scalar("a boolean"); }
  bool number_float(double, const std::string& text) { return scalar("the number " + quote(text)); }
  bool number_integer(int64_t value) { return scalar("the number " + std::to_string(value)); }
  bool binary(std::vector<uint8_t>&) { return scalar("binary"); }

  bool number_unsigned(uint64_t value) {
    if (at_ != At::kList) return scalar("the number " + std::to_string(value));
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) fail("a number is above 2^63 - 1");
    if (list_.size() == max_dims) fail("more than " + std::to_string(max_dims) + " numbers");
    list_.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string& value) {
    if (at_ == At::kMetadata) {
      metadata[field_] = value;
    } else if (at_ == At::kTensor && field_ == "dtype") {
      read_type(value);
    } else {
      return scalar("the text " + quote(value));
    }
    return true;
  }

  bool start_object(size_t) {
    if (at_ == At::kBefore) {
      at_ = At::kRoot;
    } else if (at_ == At::kRoot) {
      at_ = name_ == metadata_key ? At::kMetadata : At::kTensor;
      seen_.clear();
    } else {
      return scalar("a map");
    }
    return true;
  }

  bool end_object() {
    if (at_ == At::kTensor) {
      field_.clear();
      for (const auto* needed : {"dtype", "shape", "data_offsets"}) {
        if (std::ranges::find(seen_, needed) == seen_.end()) fail(std::string(needed) + " is missing");
      }
      check_size();
    }
    at_ = At::kRoot;
    return true;
  }

  bool start_array(size_t) {
    if (at_ != At::kTensor || field_ == "dtype") return scalar("a list");
    at_ = At::kList;
    list_.clear();
    return true;
  }

  bool end_array() {
    at_ = At::kTensor;
    if (field_ == "shape") {
      info().shape = list_;
    } else if (list_.size() != 2) {
      fail("must be two numbers, begin and end");
    } else if (list_[0] > list_[1]) {
      fail("begin " + std::to_string(list_[0]) + " is after end " + std::to_string(list_[1]));
    } else {
      info().begin = static_cast<uint64_t>(list_[0]);
      info().end = static_cast<uint64_t>(list_[1]);
    }
    return true;
  }

  bool key(std::string& key) {
    if (at_ == At::kRoot) {
      name_ = key;
      field_.clear();
      const bool is_new = key == metadata_key ? !std::exchange(has_metadata_, true)
                                              : tensors.emplace(key, TensorInfo{.name = key}).second;
      if (!is_new) fail("the name stands twice");
      return true;
    }
    field_ = key;
    if (at_ == At::kMetadata) {
      if (metadata.contains(key)) fail("the key stands twice");
    } else {
      if (key != "dtype" && key != "shape" && key != "data_offsets") {
        fail("unknown field; one of: dtype, shape, data_offsets");
      }
      if (std::ranges::find(seen_, key) != seen_.end()) fail("the field stands twice");
      seen_.push_back(key);
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    refuse(file_, "header is not valid JSON at its byte " + std::to_string(position));
  }

 private:
  enum class At { kBefore, kRoot, kMetadata, kTensor, kList };

  TensorInfo& info() { return tensors.at(name_); }

  [[noreturn]] void fail(const std::string& problem) const {
    auto where = name_ == metadata_key ? std::string(metadata_key) : "tensor " + quote(name_);
    if (!field_.empty()) where += ": " + (name_ == metadata_key ? quote(field_) : field_.substr(0, 80));
    refuse(file_, where + ": " + problem);
  }

  bool scalar(const std::string& got) const {
    if (at_ == At::kBefore) refuse(file_, "header must be a JSON map, got " + got);
    if (at_ == At::kRoot) fail("must be a map, got " + got);
    if (at_ == At::kList) fail("must hold whole numbers of 0 or more, got " + got);
    fail(at_ == At::kMetadata || field_ == "dtype" ? "must be a text, got " + got
                                                   : "must be a list of whole numbers, got " + got);
  }

  void read_type(const std::string& text) {
    for (const auto& [type, name] : names(StoredType{})) {
      if (name == text) {
        info().type = type;
        return;
      }
    }
    fail(quote(text) + " is not known; one of: " + all_names<StoredType>());
  }

  /// An empty dimension counts as one here, as it does in LibTorch's strides.
  void check_size() {
    const auto& tensor = info();
    uint64_t bytes = size_of(tensor.type);
    bool empty = false;
    for (const auto dim : tensor.shape) {
      empty = empty || dim == 0;
      const auto factor = std::max<uint64_t>(static_cast<uint64_t>(dim), 1);
      if (factor > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / bytes) {
        fail("shape " + shape_text(tensor.shape) + " holds more bytes than can be counted");
      }
      bytes *= factor;
    }
    if (empty) bytes = 0;
    if (tensor.end - tensor.begin != bytes) {
      fail("data_offsets [" + std::to_string(tensor.begin) + ", " + std::to_string(tensor.end) + "] hold " +
           std::to_string(tensor.end - tensor.begin) + " bytes, but " + std::string(name_of(tensor.type)) + " " +
           shape_text(tensor.shape) + " needs " + std::to_string(bytes));
    }
  }

  const std::string& file_;
  At at_ = At::kBefore;
  bool has_metadata_ = false;
  std::string name_, field_;
  std::vector<std::string> seen_;
  std::vector<int64_t> list_;
};

void check_coverage(const std::vector<TensorInfo>& tensors, uint64_t data_bytes, const std::string& file) {
  uint64_t covered = 0;
  for (const auto& tensor : tensors) {
    const auto where = "tensor " + quote(tensor.name) + ": data_offsets [" + std::to_string(tensor.begin) + ", " +
                       std::to_string(tensor.end) + "] ";
    if (tensor.end > data_bytes) {
      refuse(file, where + "end after the file's " + std::to_string(data_bytes) + " bytes of data (cut off?)");
    }
    if (tensor.begin < covered)
      refuse(file, where + "overlap the tensor before, which ends at " + std::to_string(covered));
    if (tensor.begin > covered) refuse(file, where + "leave a gap after byte " + std::to_string(covered));
    covered = tensor.end;
  }
  if (covered != data_bytes) {
    refuse(file,
           "the tensors cover " + std::to_string(covered) + " of " + std::to_string(data_bytes) + " bytes of data");
  }
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr size_t limit = 80;
  std::string result = "'";
  for (const char character : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(character);
    result += byte < 0x20 || byte == 0x7f ? '?' : character;
  }
  return result + (text.size() > limit ? "...'" : "'");
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const auto dim : shape) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "[" + text + "]";
}

uint64_t read_header_length(std::string_view first_bytes, uint64_t file_bytes, const std::string& file) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t length = 0;
  if (file_bytes < sizeof(length) || first_bytes.size() < sizeof(length)) {
    refuse(file, "not a safetensors file: " + std::to_string(file_bytes) + " bytes cannot hold the header's length");
  }
  std::memcpy(&length, first_bytes.data(), sizeof(length));
  if (length > file_bytes - sizeof(length)) {
    refuse(file, "header length " + std::to_string(length) + " is more than the file's " + std::to_string(file_bytes) +
                     " bytes (cut off, or not a safetensors file)");
  }
  if (length > max_header_bytes) {
    refuse(file,
           "header length " + std::to_string(length) + " is above the limit of " + std::to_string(max_header_bytes));
  }
  return length;
}

SafetensorsHeader parse_header(std::string_view json, uint64_t data_bytes, const std::string& file) {
  // The JSON parser would skip a byte order mark and would take a zero byte for the end of the text.
  if (!json.starts_with('{')) refuse(file, "header must start with '{'");
  if (const auto zero = json.find('\0'); zero != json.npos) {
    refuse(file, "header is not valid JSON at its byte " + std::to_string(zero + 1));
  }
  HeaderReader reader(file);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);

  SafetensorsHeader header;
  header.metadata = std::move(reader.metadata);
  header.tensors.reserve(reader.tensors.size());
  for (auto& [name, info] : reader.tensors) header.tensors.push_back(std::move(info));
  std::ranges::stable_sort(header.tensors, {}, [](const auto& info) { return std::pair(info.begin, info.end); });
  check_coverage(header.tensors, data_bytes, file);
  return header;
}

std::string format_header(const SafetensorsHeader& header) {
  using Json = nlohmann::ordered_json;
  std::string text = "{";
  const auto add = [&](const std::string& name, const Json& value) {
    text += (text.size() > 1 ? "," : "") + Json(name).dump() + ":" + value.dump();
  };
  std::set<std::string_view> seen = {metadata_key};
  try {
    if (!header.metadata.empty()) add(std::string(metadata_key), header.metadata);
    for (const auto& tensor : header.tensors) {
      if (!seen.insert(tensor.name).second) {
        throw std::runtime_error("the name " + quote(tensor.name) + " is taken; it must be unique");
      }
      add(tensor.name,
          {{"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}});
    }
  } catch (const nlohmann::json::exception&) {
    throw std::runtime_error("a tensor's name or a metadata text is not UTF-8");
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text;
}

}  // namespace blockzoo
