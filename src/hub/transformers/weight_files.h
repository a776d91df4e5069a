#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "blockzoo/hub/safetensors.h"

namespace blockzoo {

/// The weights of a folder: model.safetensors, or the files that model.safetensors.index.json names.
class WeightFiles {
 public:
  /// Reads the headers. Errors: std::runtime_error with file and reason; also for an index that names a file outside
  /// the folder, a tensor that its file lacks or that stands in two files.
  explicit WeightFiles(const std::filesystem::path& folder);

  const std::map<std::string, TensorInfo>& tensors() const { return tensors_; }
  at::Tensor read(const std::string& name) const;
  /// The file, or the index, for messages.
  const std::filesystem::path& source() const { return source_; }

 private:
  void add(const std::filesystem::path& file);

  std::filesystem::path source_;
  std::map<std::string, SafetensorsFile> files_;
  std::map<std::string, std::string> file_of_;
  std::map<std::string, TensorInfo> tensors_;
};

/// Writes model.safetensors, or files of at most `shard_bytes` with their index. Tensors are converted to `dtype` one
/// file at a time.
void write_weight_files(const std::filesystem::path& folder, const NamedTensors& tensors, at::ScalarType dtype,
                        int64_t shard_bytes);

}  // namespace blockzoo
