#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "blockzoo/kernels/attention.h"
#include "blockzoo/kernels/choice.h"
#include "blockzoo/kernels/linear.h"
#include "blockzoo/train/precision.h"
#include "kernels/products.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

Tensor learning(const std::string& name, at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
  return ramp(name, sizes).to(type).requires_grad_();
}

/// y under autocast, and the gradients of x, W and b for a fixed cotangent.
std::vector<Tensor> autocast_results(Kernels kernels, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const KernelScope scope(kernels);
  Tensor y;
  {
    const AutocastScope autocast(Precision::kBfloat16, at::kCPU);
    y = linear_map(x, weight, bias);
  }
  std::vector<Tensor> leaves{x, weight}, results{y.detach()};
  if (bias.defined()) leaves.push_back(bias);
  const auto cotangent = ramp("cotangent", y.sizes()).to(at::kBFloat16);
  for (const auto& gradient : torch::autograd::grad({y}, leaves, {cotangent})) results.push_back(gradient);
  return results;
}

}  // namespace

TEST_CASE("A bfloat16 linear map has autocast's output and input gradient, and sums weight gradients in float32",
          "[kernels][torch][fast][linear]") {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const auto& [rows, in, out] : {std::array<int64_t, 3>{1, 3, 5}, {7, 40, 33}, {70, 64, 13}, {300, 17, 100}}) {
      for (const bool biased : {false, true}) {
        INFO(type << ", " << rows << " rows, " << in << " to " << out << ", bias " << biased);
        const auto x = learning("x", {2, rows, in}, type), weight = learning("weight", {out, in});
        const auto bias = biased ? learning("bias", {out}) : Tensor();
        const auto fast = autocast_results(Kernels::kFast, x, weight, bias),
                   plain = autocast_results(Kernels::kReference, x, weight, bias);
        REQUIRE(fast.size() == plain.size());
        for (size_t i = 0; i < fast.size(); ++i) CHECK(fast[i].scalar_type() == plain[i].scalar_type());
        check_equal("y", fast[0], plain[0]);
        check_equal("dx", fast[1], plain[1]);
        const auto cotangent = ramp("cotangent", fast[0].sizes()).to(at::kBFloat16).to(at::kDouble).flatten(0, 1);
        const auto rounded = x.detach().to(at::kBFloat16).to(at::kDouble).flatten(0, 1);
        const auto dw = cotangent.t().mm(rounded);
        check_near("dW", fast[2], dw, {0x1p-8 * dw.abs().max().item<double>(), 0});
        if (!biased) continue;
        const auto db = cotangent.sum(0);
        check_near("db", fast[3], db, {0x1p-8 * db.abs().max().item<double>(), 0});
      }
    }
  }
}

TEST_CASE("Linear maps of one input round it once, and again when it has changed", "[kernels][torch][fast][linear]") {
  const auto weight = learning("weight", {5, 8});
  auto x = ramp("x", {3, 8}).to(at::kFloat);
  const AutocastScope autocast(Precision::kBfloat16, at::kCPU);
  const auto first = linear_map(x, weight), second = linear_map(x, weight);
  check_equal("twice", first, second);
  x.add_(1);
  check_equal("changed", linear_map(x, weight), at::linear(x, weight));
  check_equal("another", linear_map(x + 1, weight), at::linear(x + 1, weight));
}

TEST_CASE("Weight gradients and attention in bfloat16 are bit for bit the same with every number of threads",
          "[kernels][torch][fast]") {
  const auto x = learning("x", {300, 70}), weight = learning("weight", {130, 70});
  const auto heads = [](const std::string& name) { return learning(name, {2, 150, 3, 24}, at::kBFloat16); };
  const auto q = heads("q"), k = heads("k"), v = heads("v");
  const auto all = [&] {
    std::vector<Tensor> results;
    if (rows_sum_bfloat16()) results.push_back(autocast_results(Kernels::kFast, x, weight, {})[2]);
    const auto y = attend(q, k, v, {.scale = 0.4});
    results.push_back(y.detach());
    const auto cotangent = ramp("dy", y.sizes()).to(at::kBFloat16);
    for (const auto& gradient : torch::autograd::grad({y}, {q, k, v}, {cotangent})) results.push_back(gradient);
    return results;
  };
  const auto threads = at::get_num_threads();
  const auto expected = all();
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    const auto results = all();
    for (size_t i = 0; i < results.size(); ++i)
      check_equal("result " + std::to_string(i) + ", " + std::to_string(count) + " threads", results[i], expected[i]);
  }
  at::set_num_threads(threads);
}

TEST_CASE("NaN and infinity come through a bfloat16 linear map", "[kernels][torch][fast][linear]") {
  for (const float bad : {NAN, INFINITY}) {
    auto values = ramp("x", {3, 8}).to(at::kFloat);
    values[1][2] = bad;
    const auto x = values.requires_grad_(), weight = learning("weight", {5, 8});
    const auto results = autocast_results(Kernels::kFast, x, weight, {});
    CHECK_FALSE(results[0][1].isfinite().any().item<bool>());
    CHECK(results[0][0].isfinite().all().item<bool>());
    CHECK_FALSE(results[2].select(1, 2).isfinite().any().item<bool>());
    CHECK(results[2].select(1, 3).isfinite().all().item<bool>());
  }
}

}  // namespace blockzoo
