#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/near.h"

namespace blockzoo {

/// Holds the gradients of the scalar f() for each leaf (float64) against central differences, at up to 16 places of
/// each.
inline void check_gradients(const std::map<std::string, at::Tensor>& leaves, const std::function<at::Tensor()>& f) {
  for (const auto& [name, leaf] : leaves) leaf.mutable_grad().reset();
  f().backward();
  const at::NoGradGuard no_grad;
  constexpr double step = 1e-5;
  for (const auto& [name, leaf] : leaves) {
    REQUIRE(leaf.scalar_type() == at::kDouble);
    REQUIRE(leaf.is_contiguous());
    const auto gradient = leaf.grad().defined() ? leaf.grad().reshape(-1) : at::zeros({leaf.numel()}, at::kDouble);
    const auto stride = std::max<int64_t>(1, leaf.numel() / 16);
    std::vector<double> analytic, numeric;
    for (int64_t i = 0; i < leaf.numel(); i += stride) {
      double& value = leaf.data_ptr<double>()[i];
      const double before = value;
      value = before + step;
      const double above = f().item<double>();
      value = before - step;
      const double below = f().item<double>();
      value = before;
      numeric.push_back((above - below) / (2 * step));
      analytic.push_back(gradient[i].item<double>());
    }
    check_near("gradient of " + name + " against central differences", at::tensor(analytic), at::tensor(numeric),
               {1e-6, 1e-5});
  }
}

}  // namespace blockzoo
