#include "blockzoo/kernels/attention.h"

#include "support/gradcheck.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

/// softmax(cap(scale q k^T) + bias) v with the key heads repeated, for every head at once.
Tensor by_definition(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options) {
  const auto times = q.size(2) / k.size(2), length = q.size(1);
  const auto keys = k.repeat_interleave(times, 2), values = v.repeat_interleave(times, 2);
  auto scores = at::einsum("bthk,bshk->bhts", {q, keys}) * options.scale;
  if (options.softcap > 0) scores = options.softcap * at::tanh(scores / options.softcap);
  if (options.bias.defined()) scores = scores + options.bias;
  const auto back = at::arange(length).unsqueeze(1) - at::arange(length);
  const auto seen = back.ge(0).logical_and(back.lt(options.window > 0 ? options.window : length));
  scores = scores.masked_fill(seen.logical_not(), -1e300);
  return at::einsum("bhts,bshw->bthw", {at::softmax(scores, -1), values});
}

TEST_CASE("attend equals its definition and has its gradients, on every path",
          "[kernels][torch][identity][attention]") {
  for (const auto& [heads, groups, width] : {std::array<int64_t, 3>{4, 4, 3}, {4, 2, 3}, {4, 1, 5}, {6, 3, 2}}) {
    for (const int64_t window : {0, 1, 3, 6, 9}) {
      for (const double softcap : {0.0, 0.7}) {
        for (const bool biased : {false, true}) {
          INFO(heads << " heads, " << groups << " key heads, window " << window << ", cap " << softcap << ", bias "
                     << biased);
          const auto q = (2 * ramp("q", {2, 6, heads, 3})).requires_grad_(),
                     k = (2 * ramp("k", {2, 6, groups, 3})).requires_grad_(),
                     v = ramp("v", {2, 6, groups, width}).requires_grad_();
          AttendOptions options{.scale = 0.8, .window = window, .softcap = softcap};
          std::vector<Tensor> leaves{q, k, v};
          if (biased) leaves.push_back(options.bias = ramp("bias", {heads, 6, 6}).requires_grad_());
          const auto y = attend(q, k, v, options), expected = by_definition(q, k, v, options);
          check_near("output", y, expected);
          const auto cotangent = ramp("cotangent", y.sizes());
          const auto run = [&](const Tensor& output) {
            for (auto& leaf : leaves) leaf.mutable_grad().reset();
            (output * cotangent).sum().backward();
            std::vector<Tensor> gradients;
            for (auto& leaf : leaves) gradients.push_back(leaf.grad().clone());
            return gradients;
          };
          const auto actual = run(y), wanted = run(expected);
          for (size_t i = 0; i < leaves.size(); ++i) check_near("gradient " + std::to_string(i), actual[i], wanted[i]);
        }
      }
    }
  }
}

TEST_CASE("attend's softmax does not overflow or vanish for large scores", "[kernels][torch][attention]") {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const double softcap : {0.0, 50.0}) {
      const auto q = (200 * ramp("q", {1, 6, 2, 4})).to(type), k = (200 * ramp("k", {1, 6, 2, 4})).to(type),
                 v = ramp("v", {1, 6, 2, 4}).to(type);
      INFO(type << ", cap " << softcap);
      CHECK(attend(q, k, v, {.scale = 0.5, .softcap = softcap}).isfinite().all().item<bool>());
    }
  }
}

TEST_CASE("attend refuses shapes that do not fit and says what it was given", "[kernels][torch][error]") {
  const auto x = [](int64_t heads) { return at::ones({1, 3, heads, 2}); };
  CHECK_THROWS_WITH(attend(x(4), x(3), x(3), {}), Catch::Matchers::ContainsSubstring("[attend]") &&
                                                      Catch::Matchers::ContainsSubstring("[1, 3, 4, 2]"));
  CHECK_THROWS_WITH(attend(x(4)[0], x(4)[0], x(4)[0], {}), Catch::Matchers::ContainsSubstring("[attend]"));
  CHECK_THROWS_WITH(attend(x(4), x(2), x(1), {}), Catch::Matchers::ContainsSubstring("[attend]"));
}

}  // namespace
}  // namespace blockzoo
