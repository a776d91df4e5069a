#include <torch/csrc/autograd/function.h>

#include "blockzoo/kernels/choice.h"
#include "blockzoo/kernels/dynamic_tanh.h"
#include "blockzoo/kernels/layer_norm.h"
#include "blockzoo/kernels/scale_norm.h"
#include "blockzoo/kernels/soft_cap.h"
#include "kernels/twin.h"

namespace blockzoo {
namespace {

/// Parameters stay in float32, as the weights of a model do under autocast.
Tensor kept_wide(const Tensor& parameter) {
  return parameter.scalar_type() == at::kBFloat16 ? parameter.to(at::kFloat) : parameter;
}

constexpr int64_t kWidths[] = {1, 3, 16, 24, 100};

}  // namespace

TEST_CASE("LayerNorm in one pass equals the formula, with its gradients", "[kernels][torch][fast]") {
  for (const int64_t width : kWidths) {
    for (const int64_t rows : {1, 40}) {
      INFO("width " << width << ", rows " << rows);
      const auto x = ramp("x", {2, rows, 3, width}) + 0.5;
      const auto gain = ramp("gain", {width}), bias = ramp("bias", {width});
      const auto own_gain = ramp("gain", {3, width}), own_bias = ramp("bias", {3, width});
      // A row of one number is its own mean: nothing but eps is left under the root.
      const double eps = width == 1 ? 0.5 : 1e-2;
      check_against_twin("neither", [&](const auto& t) { return layer_norm(t[0], {}, {}, eps); }, {x});
      check_against_twin("gain", [&](const auto& t) { return layer_norm(t[0], kept_wide(t[1]), {}, eps); }, {x, gain});
      check_against_twin("bias", [&](const auto& t) { return layer_norm(t[0], {}, kept_wide(t[1]), eps); }, {x, bias});
      const Operator both = [&](const auto& t) { return layer_norm(t[0], kept_wide(t[1]), kept_wide(t[2]), eps); };
      check_against_twin("both", both, {x, gain, bias});
      check_against_twin("both for every head", both, {x, own_gain, own_bias});
    }
  }
}

TEST_CASE("Scale norm in one pass equals the formula, with its gradients", "[kernels][torch][fast]") {
  for (const int64_t width : kWidths) {
    for (const int64_t rows : {1, 40}) {
      INFO("width " << width << ", rows " << rows);
      const auto x = ramp("x", {2, rows, 3, width});
      const auto with_least = [](double eps) {
        return Operator([eps](const auto& t) { return scale_norm(t[0], kept_wide(t[1]), eps); });
      };
      // Half of all rows of one number are below the least length of 0.5.
      const double eps = width == 1 ? 0.5 : 1e-5;
      check_against_twin("one gain", with_least(eps), {x, ramp("gain", {1})});
      check_against_twin("a gain for every head", with_least(eps), {x, ramp("gain", {3, 1})});
    }
  }
}

TEST_CASE("Dynamic tanh in one pass equals the formula, with its gradients", "[kernels][torch][fast]") {
  for (const int64_t width : kWidths) {
    for (const int64_t rows : {1, 40}) {
      INFO("width " << width << ", rows " << rows);
      const auto x = 3 * ramp("x", {2, rows, 3, width});
      const Operator with_bias = [](const auto& t) {
        return dynamic_tanh(t[0], kept_wide(t[1]), kept_wide(t[2]), kept_wide(t[3]));
      };
      check_against_twin("no bias",
                         [](const auto& t) { return dynamic_tanh(t[0], kept_wide(t[1]), kept_wide(t[2]), {}); },
                         {x, ramp("alpha", {1}), ramp("gain", {width})});
      check_against_twin("bias", with_bias, {x, ramp("alpha", {1}), ramp("gain", {width}), ramp("bias", {width})});
      check_against_twin("for every head", with_bias,
                         {x, ramp("alpha", {3, 1}), ramp("gain", {3, width}), ramp("bias", {3, width})});
    }
  }
}

TEST_CASE("The soft cap in one pass equals the formula, with its gradient", "[kernels][torch][fast]") {
  for (const int64_t width : kWidths) {
    INFO("width " << width);
    const auto x = 5 * ramp("x", {3, width});
    const Operator capped = [](const auto& t) { return soft_cap(t[0], 2); };
    check_share(capped, {x}, at::kFloat, 1e-5);
    check_share(capped, {x}, at::kBFloat16, 0x1p-7);  // its slope is taken from the rounded result
  }
}

TEST_CASE("One-pass norms take no rows, rows with gaps, and what is not finite", "[kernels][torch][fast]") {
  const auto one = at::ones({1}), many = at::ones({8});
  const auto norms = std::vector<Operator>{
      [&](const auto& t) { return layer_norm(t[0], many, many, 1e-5); },
      [&](const auto& t) { return scale_norm(t[0], one, 1e-5); },
      [&](const auto& t) { return dynamic_tanh(t[0], one, many, many); },
      [](const auto& t) { return soft_cap(t[0], 3); },
  };
  for (const auto& norm : norms) {
    CHECK(norm({at::zeros({0, 4, 8})}).sizes() == at::IntArrayRef{0, 4, 8});
    const auto gaps = ramp("x", {8, 5, 4}).permute({2, 1, 0});
    check_share(norm, {gaps}, at::kFloat, 1e-5);
    auto bad = at::ones({2, 8});
    bad[1][5] = NAN;
    const auto y = norm({bad});
    CHECK(y[0].isfinite().all().template item<bool>());
    CHECK(y[1].isnan().any().template item<bool>());
  }
}

TEST_CASE("The one switch chooses between one-pass norms and their twins", "[kernels][torch][fast]") {
  const auto x = ramp("x", {2, 8}).to(at::kFloat).requires_grad_();
  const auto one = at::ones({1}), many = at::ones({8});
  const auto names_of = [&] {
    std::string names;
    for (const auto& y :
         {layer_norm(x, many, {}, 1e-5), scale_norm(x, one, 1e-5), dynamic_tanh(x, one, many, {}), soft_cap(x, 3)})
      names += y.grad_fn()->name() + " ";
    return names;
  };
  for (const auto* name : {"FusedLayerNorm", "FusedScaleNorm", "FusedDynamicTanh", "FusedSoftCap"}) {
    CHECK(names_of().find(name) != std::string::npos);
    const KernelScope reference(Kernels::kReference);
    CHECK(names_of().find(name) == std::string::npos);
  }
}

}  // namespace blockzoo
