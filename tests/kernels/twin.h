#pragma once

#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "blockzoo/nn/types.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {

using Operator = std::function<Tensor(const std::vector<Tensor>&)>;

/// What an operator gives, and its gradients for a fixed cotangent that `type` can hold.
inline std::vector<Tensor> results(const Operator& f, const std::vector<Tensor>& inputs, at::ScalarType type) {
  std::vector<Tensor> leaves, all;
  for (const auto& input : inputs) leaves.push_back(input.detach().clone().requires_grad_());
  const auto y = f(leaves);
  all.push_back(y.detach());
  const auto cotangent = ramp("cotangent", y.sizes()).to(type).to(y.scalar_type());
  for (const auto& gradient : torch::autograd::grad({y}, leaves, {cotangent})) all.push_back(gradient);
  return all;
}

inline double largest(const std::vector<Tensor>& tensors) {
  double most = 0;
  for (const auto& tensor : tensors) most = std::max(most, tensor.abs().max().item<double>());
  return most;
}

/// Fast kernels against the formula in float64 on the same numbers. Differences are shares of the largest magnitude
/// among inputs and results.
inline void check_share(const Operator& f, const std::vector<Tensor>& inputs, at::ScalarType type, double share) {
  std::vector<Tensor> narrow, wide;
  for (const auto& input : inputs) {
    narrow.push_back(input.to(type));
    wide.push_back(narrow.back().to(at::kDouble));
  }
  const auto expected = results(f, wide, type), actual = results(f, narrow, type);
  const double most = std::max(largest(wide), largest(expected));
  for (size_t i = 0; i < actual.size(); ++i) {
    INFO(type);
    CHECK(actual[i].scalar_type() == type);
    check_near("result " + std::to_string(i), actual[i], expected[i], {share * most, 0});
  }
}

/// 1e-5 in float32; in bfloat16, where each result is rounded once, 2^-8.
inline void check_against_twin(const std::string& name, const Operator& f, const std::vector<Tensor>& inputs) {
  INFO(name);
  check_share(f, inputs, at::kFloat, 1e-5);
  check_share(f, inputs, at::kBFloat16, 0x1p-8);
}

}  // namespace blockzoo
