#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <map>
#include <string>

#include "blockzoo/core/hash.h"

namespace blockzoo {

/// Numbers in [-1, 1) that depend on the name and the index alone, float64. tools/golden/golden_file.py makes the same.
inline at::Tensor ramp(std::string_view name, at::IntArrayRef shape) {
  auto values = at::empty(shape, at::kDouble);
  for (int64_t i = 0; i < values.numel(); ++i) {
    const auto bits = mix(hash_bytes(name) + static_cast<uint64_t>(i));
    values.data_ptr<double>()[i] = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
  }
  return values;
}

/// Parameters by name, each below `prefix`.
inline std::map<std::string, at::Tensor> parameters_of(const torch::nn::Module& module,
                                                       const std::string& prefix = "") {
  std::map<std::string, at::Tensor> parameters;
  for (const auto& item : module.named_parameters()) parameters.emplace(prefix + item.key(), item.value());
  return parameters;
}

/// Gains near one, biases below 0.3, matrices of unit gain: the rule of tools/golden/golden_file.py.
inline void fill_with_ramp(const torch::nn::Module& module, const std::string& prefix = "") {
  const at::NoGradGuard no_grad;
  for (auto& [name, parameter] : parameters_of(module, prefix)) {
    const auto last = name.substr(name.rfind('.') + 1);
    const auto u = ramp(name, parameter.sizes());
    if (last == "gain" || last == "alpha" || last == "output_factor") {
      parameter.copy_(1 + 0.3 * u);
    } else if (last.ends_with("bias")) {
      parameter.copy_(0.3 * u);
    } else {
      parameter.copy_(u * (1.5 / std::sqrt(static_cast<double>(parameter.size(-1)))));
    }
  }
}

}  // namespace blockzoo
