#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "blockzoo/kernels/attention.h"
#include "blockzoo/kernels/choice.h"
#include "blockzoo/kernels/linear.h"
#include "blockzoo/train/precision.h"
#include "kernels/fast.h"
#include "kernels/many_rows.h"
#include "kernels/products.h"
#include "kernels/rows/instructions.h"
#include "kernels/widened_products.h"
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

/// Equal where LibTorch itself multiplies; elsewhere sums may be taken in another order, and round to a neighbour.
void check_as_libtorch(const std::string& name, const Tensor& actual, const Tensor& expected) {
  using enum Bfloat16Products;
  CHECK(actual.scalar_type() == expected.scalar_type());
  if (bfloat16_products() == kLibTorch || bfloat16_products() == kPairs) return check_equal(name, actual, expected);
  check_near(name, actual, expected, {0x1p-8 * expected.abs().max().item<double>(), 0});
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
        for (size_t i = 2; i < fast.size(); ++i) CHECK(fast[i].scalar_type() == plain[i].scalar_type());
        check_as_libtorch("y", fast[0], plain[0]);
        check_as_libtorch("dx", fast[1], plain[1]);
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
  check_as_libtorch("changed", linear_map(x, weight), at::linear(x, weight));
  check_as_libtorch("another", linear_map(x + 1, weight), at::linear(x + 1, weight));
}

TEST_CASE("Weight gradients and attention in bfloat16 are bit for bit the same with every number of threads",
          "[kernels][torch][fast]") {
  const auto x = learning("x", {300, 70}), weight = learning("weight", {130, 70});
  const auto heads = [](const std::string& name) { return learning(name, {2, 150, 3, 24}, at::kBFloat16); };
  const auto q = heads("q"), k = heads("k"), v = heads("v");
  const auto all = [&] {
    std::vector<Tensor> results;
    if (bfloat16_products() != Bfloat16Products::kLibTorch)
      results.push_back(autocast_results(Kernels::kFast, x, weight, {})[2]);
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

TEST_CASE("Widened products of bfloat16 are those of float64, rounded once, under autocast as without it",
          "[kernels][torch][fast][linear]") {
  const auto half = [](const std::string& name, at::IntArrayRef sizes) { return ramp(name, sizes).to(at::kBFloat16); };
  const auto wide = [](const Tensor& x) { return x.to(at::kDouble); };
  for (const auto& [rows, in, out] : {std::array<int64_t, 3>{1, 1, 1}, {7, 40, 33}, {67, 700, 130}}) {
    INFO(rows << " rows, " << in << " to " << out);
    const auto x = half("x", {rows, in}), w = half("w", {out, in}), b = half("b", {out}), dy = half("dy", {rows, out});
    const auto check = [&](const std::string& name, const Tensor& actual, const Tensor& exact) {
      CHECK(actual.scalar_type() == at::kBFloat16);
      check_near(name, actual, exact, {1e-5 * exact.abs().max().item<double>(), 0x1p-8});
    };
    const auto all = [&] {
      check("y", widened_linear(x, w, b), wide(x).mm(wide(w).t()) + wide(b));
      check("y without bias", widened_linear(x, w, {}), wide(x).mm(wide(w).t()));
      check("dx", widened_input_gradient(dy, w), wide(dy).mm(wide(w)));
      Tensor packed;
      const auto dw = widened_weight_gradient(dy, x, packed), exact = wide(dy).t().mm(wide(x));
      CHECK(dw.scalar_type() == at::kFloat);
      check_near("dW", dw, exact, {1e-5 * exact.abs().max().item<double>(), 0});
    };
    all();
    const AutocastScope autocast(Precision::kBfloat16, at::kCPU);
    all();
  }
}

TEST_CASE("Products of bfloat16 by rows are those of float64, rounded once", "[kernels][torch][fast][linear]") {
  if (!rows::multiplies_pairs()) {
    CHECK(bfloat16_products() != Bfloat16Products::kRows);
    return;
  }
  const auto half = [](const std::string& name, at::IntArrayRef sizes) { return ramp(name, sizes).to(at::kBFloat16); };
  const auto wide = [](const Tensor& x) { return x.to(at::kDouble); };
  for (const auto& [rows, in, out] : {std::array<int64_t, 3>{1, 1, 1}, {7, 41, 33}, {67, 3200, 130}}) {
    INFO(rows << " rows, " << in << " to " << out);
    const auto x = half("x", {rows, in}), w = half("w", {out, in}), b = half("b", {out}), dy = half("dy", {rows, out});
    const auto check = [](const std::string& name, const Tensor& actual, const Tensor& exact) {
      CHECK(actual.scalar_type() == at::kBFloat16);
      check_near(name, actual, exact, {1e-5 * exact.abs().max().item<double>(), 0x1p-8});
    };
    check("y", linear_by_rows(x, w, b), wide(x).mm(wide(w).t()) + wide(b));
    check("y without bias", linear_by_rows(x, w, {}), wide(x).mm(wide(w).t()));
    check("dx", linear_by_rows(dy, w.t(), {}), wide(dy).mm(wide(w)));
  }
}

TEST_CASE("Widened products of batches are those of float64, with their gradients", "[kernels][torch][fast][linear]") {
  const auto a = learning("a", {3, 5, 70}, at::kBFloat16), b = learning("b", {3, 70, 6}, at::kBFloat16);
  const auto product = [](const Tensor& x, const Tensor& y) { return x.bmm(y); };
  const auto wide = [](const Tensor& x) { return x.detach().to(at::kDouble); };
  const auto y = widened_batched_matmul(a, b);
  const auto cotangent = ramp("cotangent", {3, 5, 6}).to(at::kBFloat16);
  const auto gradients = torch::autograd::grad({y}, {a, b}, {cotangent});
  const auto check = [](const std::string& name, const Tensor& actual, const Tensor& exact) {
    CHECK(actual.scalar_type() == at::kBFloat16);
    check_near(name, actual, exact, {1e-5 * exact.abs().max().item<double>(), 0x1p-8});
  };
  check("y", y, product(wide(a), wide(b)));
  check("da", gradients[0], product(wide(cotangent), wide(b).transpose(1, 2)));
  check("db", gradients[1], product(wide(a).transpose(1, 2), wide(cotangent)));
  const auto float_a = a.detach().to(at::kFloat), float_b = b.detach().to(at::kFloat);
  const bool chosen = bfloat16_products() == Bfloat16Products::kWidened;
  CHECK(widened_batched_fits(a, b) == chosen);
  CHECK_FALSE(widened_batched_fits(float_a, float_b));
  const AutocastScope autocast(Precision::kBfloat16, at::kCPU);
  CHECK(widened_batched_fits(float_a, float_b) == chosen);
  check("under autocast", batched_matmul(float_a, float_b), product(wide(a), wide(b)));
}

TEST_CASE("A prompt in bfloat16 goes by the products of this processor", "[kernels][torch][fast][linear]") {
  const at::NoGradGuard no_grad;
  const auto x = ramp("x", {2, 40, 70}).to(at::kBFloat16), w = ramp("w", {50, 70}).to(at::kBFloat16);
  for (const auto& bias : {Tensor(), ramp("b", {50}).to(at::kBFloat16)}) {
    CHECK(widened_linear_fits(x, w, bias) == (bfloat16_products() == Bfloat16Products::kWidened));
    check_as_libtorch("y", linear_map(x, w, bias), at::linear(x, w, given(bias)));
  }
  CHECK_FALSE(widened_linear_fits(x.to(at::kFloat), w, {}));
  CHECK_FALSE(widened_linear_fits(x, w.to(at::kFloat), {}));
  const KernelScope plain(Kernels::kReference);
  CHECK_FALSE(widened_linear_fits(x, w, {}));
}

TEST_CASE("Who multiplies bfloat16 follows from the processor", "[kernels][torch][fast]") {
  using enum Bfloat16Products;
  CHECK(bfloat16_products_for({.x86 = true, .pairs = true}) == kPairs);
  CHECK(bfloat16_products_for({.x86 = true, .amd = true, .pairs = true, .at_once = true}) == kPairs);
  CHECK(bfloat16_products_for({.x86 = true, .amd = true, .pairs = true}) == kRows);
  CHECK(bfloat16_products_for({.x86 = true, .pairs = true, .tiles = true}) == kLibTorch);
  CHECK(bfloat16_products_for({.x86 = true}) == kWidened);
  CHECK(bfloat16_products_for({.x86 = true, .amd = true}) == kWidened);
  CHECK(bfloat16_products_for({}) == kLibTorch);
  CHECK(words_of(kPairs) == "bfloat16 by LibTorch, its weight gradients by rows");
  CHECK(describe(Kernels::kFast).find("; " + words_of(bfloat16_products()) + "; rows by ") != std::string::npos);
}

}  // namespace blockzoo
