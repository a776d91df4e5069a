#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>

#include "blockzoo/hub/atomic_file.h"

namespace blockzoo {

/// Writes a NumPy file (format 1.0) of float32, little endian, row-major, as an AtomicFile. Other types are converted.
/// Errors: std::runtime_error for an undefined tensor; std::system_error with path and reason.
FileSum save_npy(const std::filesystem::path& path, const at::Tensor& tensor);

}  // namespace blockzoo
