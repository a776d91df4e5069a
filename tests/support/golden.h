#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {

/// tests/golden/<family>.json, made by tools/golden/<family>.py.
inline nlohmann::json golden(const std::string& family) {
  std::ifstream file(std::string(BLOCKZOO_SOURCE_DIR) + "/tests/golden/" + family + ".json");
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

inline at::Tensor tensor_of(const nlohmann::json& numbers, at::IntArrayRef shape) {
  return at::tensor(numbers.get<std::vector<double>>(), at::kDouble).view(shape);
}

/// Compares `output` with the case, and the gradients of sum(output * ramp("cotangent")) for exactly the leaves named
/// there.
inline void check_case(const nlohmann::json& expected, const at::Tensor& output,
                       const std::map<std::string, at::Tensor>& leaves, at::ScalarType type) {
  const auto shape = expected["output"]["shape"].get<std::vector<int64_t>>();
  check_near("output", output, tensor_of(expected["output"]["values"], shape), tolerance(type));
  std::vector<std::string> names, expected_names;
  for (const auto& [name, leaf] : leaves) names.push_back(name);
  for (const auto& item : expected["gradients"].items()) expected_names.push_back(item.key());
  CHECK(names == expected_names);
  if (names != expected_names || !output.requires_grad()) return;
  (output * ramp("cotangent", output.sizes()).to(output.dtype())).sum().backward();
  for (const auto& [name, leaf] : leaves)
    check_near("gradient of " + name, leaf.grad(), tensor_of(expected["gradients"][name], leaf.sizes()),
               tolerance(type));
}

}  // namespace blockzoo
