#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

#include "blockzoo/hub/atomic_file.h"

namespace torch::nn {
class Module;
}

namespace blockzoo {

/// The parameters under their names, detached and sharing their memory with the module.
std::map<std::string, at::Tensor> weights_of(const torch::nn::Module& module);

/// Copies tensors into the parameters of the same names. Floating-point types convert to the parameter's type.
/// Errors: one std::runtime_error, starting with `source`, that lists every missing, unexpected and misshapen tensor
/// and every wrong kind of number; the module is then as it was.
void load_weights(torch::nn::Module& module, const std::map<std::string, at::Tensor>& weights,
                  const std::string& source);

/// The same from a safetensors file, which is checked before any of its data is read.
/// Errors: also those of SafetensorsFile.
void load_weights(torch::nn::Module& module, const std::filesystem::path& path);

/// Writes the parameters as an AtomicFile that load_weights and Python's safetensors read.
/// Errors: as save_safetensors.
FileSum save_weights(const torch::nn::Module& module, const std::filesystem::path& path,
                     std::map<std::string, std::string> metadata = {});

}  // namespace blockzoo
