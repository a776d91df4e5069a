#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "blockzoo/kernels/choice.h"
#include "blockzoo/kernels/linear.h"
#include "blockzoo/train/precision.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {

TEST_CASE("Linear maps that share an input, with others between, have the gradients of maps that do not",
          "[kernels][torch][fast][linear]") {
  const auto precision = GENERATE(Precision::kFloat32, Precision::kBfloat16);
  const auto x = ramp("x", {4, 6, 8}).to(at::kFloat), other = ramp("other", {24, 8}).to(at::kFloat);
  std::vector<Tensor> weights;
  for (const auto* name : {"a", "b", "c", "d", "e"})
    weights.push_back(ramp(name, {5, 8}).to(at::kFloat).requires_grad_());
  const std::vector<Tensor> inputs = {x, x, other, x.view({24, 8}), x};
  const auto gradients = [&](Kernels kernels, bool twice) {
    const KernelScope scope(kernels);
    const AutocastScope autocast(precision, at::kCPU);
    auto sum = at::zeros({});
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto y = linear_map(inputs[i], weights[i]);
      sum = sum + (y * ramp("cotangent", y.sizes()).to(y.scalar_type())).sum();
    }
    if (twice) torch::autograd::grad({sum}, weights, {}, /*retain_graph=*/true);
    return torch::autograd::grad({sum}, weights);
  };
  const auto expected = gradients(Kernels::kReference, false), once = gradients(Kernels::kFast, false),
             again = gradients(Kernels::kFast, true);
  for (size_t i = 0; i < weights.size(); ++i) {
    INFO("map " << i);
    const double allowed = precision == Precision::kFloat32 ? 1e-5 : 0x1p-7;
    check_near("gradient", once[i], expected[i],
               {.absolute = allowed * expected[i].abs().max().item<double>(), .relative = 0});
    check_equal("from a graph that is kept", again[i], once[i]);
  }
}

}  // namespace blockzoo
