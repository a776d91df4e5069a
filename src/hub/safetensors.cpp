#include "blockzoo/hub/safetensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "blockzoo/core/names.h"
#include "hub/descriptor.h"
#include "hub/safetensors_header.h"

namespace blockzoo {

namespace {

constexpr std::pair<StoredType, at::ScalarType> scalar_types[] = {
    {StoredType::kF64, at::kDouble},    {StoredType::kF32, at::kFloat}, {StoredType::kF16, at::kHalf},
    {StoredType::kBf16, at::kBFloat16}, {StoredType::kI64, at::kLong},  {StoredType::kI32, at::kInt},
    {StoredType::kI16, at::kShort},     {StoredType::kI8, at::kChar},   {StoredType::kU8, at::kByte},
    {StoredType::kBool, at::kBool}};

std::string problem_with(const at::Tensor& tensor) {
  if (!tensor.defined()) return "is undefined";
  if (tensor.layout() != at::kStrided || tensor.is_quantized()) return "is not a dense tensor";
  if (tensor.is_meta()) return "has no values (meta device)";
  return "";
}

}  // namespace

StoredType stored_type(at::ScalarType type) {
  for (const auto& [stored, scalar] : scalar_types) {
    if (scalar == type) return stored;
  }
  throw std::runtime_error(std::string("safetensors files are not written with elements of type ") +
                           c10::toString(type) + "; one of: " + all_names<StoredType>());
}

at::ScalarType scalar_type(StoredType type) {
  for (const auto& [stored, scalar] : scalar_types) {
    if (stored == type) return scalar;
  }
  throw std::logic_error("a stored type has no LibTorch type");
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path) {
  Descriptor descriptor(path, O_RDONLY);
  struct stat status = {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) throw_system("read", path);
  if (!S_ISREG(status.st_mode)) throw_system("read", path, S_ISDIR(status.st_mode) ? EISDIR : ESPIPE);

  const auto file_bytes = static_cast<uint64_t>(status.st_size);
  char first[sizeof(uint64_t)];
  const auto got = read_at(descriptor.get(), first, sizeof(first), 0);
  if (got < 0) throw_system("read", path);
  const auto length = read_header_length({first, static_cast<size_t>(got)}, file_bytes, path.string());
  std::string json(length, '\0');
  const auto json_got = read_at(descriptor.get(), json.data(), length, sizeof(first));
  if (json_got < 0) throw_system("read", path);
  json.resize(static_cast<size_t>(json_got));
  data_start_ = sizeof(first) + length;
  auto header = parse_header(json, file_bytes - data_start_, path.string());

  tensors_ = std::move(header.tensors);
  metadata_ = std::move(header.metadata);
  for (size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
  descriptor_ = descriptor.release();
}

SafetensorsFile::~SafetensorsFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      data_start_(other.data_start_),
      tensors_(std::move(other.tensors_)),
      index_(std::move(other.index_)),
      metadata_(std::move(other.metadata_)) {}

const TensorInfo* SafetensorsFile::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

at::Tensor SafetensorsFile::read(const TensorInfo& info) const {
  const bool is_bool = info.type == StoredType::kBool;
  auto tensor = at::empty(info.shape, is_bool ? at::kByte : scalar_type(info.type));
  const auto count = info.end - info.begin;
  const auto got = read_at(descriptor_, static_cast<char*>(tensor.data_ptr()), count, data_start_ + info.begin);
  if (got < 0) throw_system("read", path_);
  if (static_cast<uint64_t>(got) != count) {
    throw std::runtime_error(path_.string() + ": tensor " + quote(info.name) + " is cut off");
  }
  return is_bool ? tensor.ne(0) : tensor;  // a bool that is neither 0 nor 1 has no defined behaviour
}

at::Tensor SafetensorsFile::read(const std::string& name) const {
  if (const auto* info = find(name)) return read(*info);
  throw std::runtime_error(path_.string() + ": there is no tensor " + quote(name));
}

std::map<std::string, at::Tensor> load_safetensors(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  std::map<std::string, at::Tensor> tensors;
  for (const auto& info : file.tensors()) tensors.emplace(info.name, file.read(info));
  return tensors;
}

FileSum save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                         const std::map<std::string, std::string>& metadata) {
  std::vector<std::pair<TensorInfo, const at::Tensor*>> order;
  for (const auto& [name, tensor] : tensors) {
    if (const auto problem = problem_with(tensor); !problem.empty()) {
      throw std::runtime_error("cannot write " + path.string() + ": tensor " + quote(name) + " " + problem);
    }
    try {
      order.push_back({{name, stored_type(tensor.scalar_type()), tensor.sizes().vec()}, &tensor});
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("cannot write " + path.string() + ": tensor " + quote(name) + ": " + error.what());
    }
  }
  std::ranges::stable_sort(order, std::greater(), [](const auto& entry) { return size_of(entry.first.type); });

  SafetensorsHeader header{.tensors = {}, .metadata = metadata};
  uint64_t offset = 0;
  for (auto& [info, tensor] : order) {
    info.begin = std::exchange(offset, offset + static_cast<uint64_t>(tensor->numel()) * size_of(info.type));
    info.end = offset;
    header.tensors.push_back(info);
  }
  std::string head;
  try {
    head = format_header(header);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot write " + path.string() + ": " + error.what());
  }

  AtomicFile file(path);
  file.write(head);
  for (const auto& [info, tensor] : order) {
    const auto packed = tensor->detach().to(at::kCPU).resolve_neg().contiguous();
    file.write({static_cast<const char*>(packed.const_data_ptr()), static_cast<size_t>(info.end - info.begin)});
  }
  return file.commit();
}

}  // namespace blockzoo
