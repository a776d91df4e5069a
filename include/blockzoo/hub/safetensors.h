#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/tensor_info.h"

namespace blockzoo {

/// An open safetensors file (https://github.com/huggingface/safetensors): the header is read and checked once, tensors
/// are read when asked for. Nothing larger than the file is ever allocated, whatever the header claims.
/// Errors: std::runtime_error that names file and tensor or field, for every file that is not exactly one valid header
/// and the bytes it describes; std::system_error with path and reason when it cannot be read.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// In the order of their bytes.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Null when there is no tensor of that name.
  const TensorInfo* find(const std::string& name) const;
  /// A new tensor on the CPU with the type of the file.
  at::Tensor read(const TensorInfo& info) const;
  at::Tensor read(const std::string& name) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t data_start_ = 0;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, size_t> index_;
  std::map<std::string, std::string> metadata_;
};

/// Every tensor of the file. Errors: as SafetensorsFile.
std::map<std::string, at::Tensor> load_safetensors(const std::filesystem::path& path);

/// Names are unique; the order is kept among tensors with elements of equal size, the widest first, so that each tensor
/// is aligned for readers that map the file.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Writes an AtomicFile. Views of any strides are packed to row-major; tensors on a device are copied one at a time.
/// Errors: std::runtime_error that names the tensor that cannot be stored (type, layout, repeated or undefined);
/// std::system_error with path and reason.
FileSum save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                         const std::map<std::string, std::string>& metadata = {});

/// The file's type for a LibTorch type, and back. Throws std::runtime_error when the file format lacks it.
StoredType stored_type(at::ScalarType type);
at::ScalarType scalar_type(StoredType type);

}  // namespace blockzoo
