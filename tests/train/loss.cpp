#include "blockzoo/train/loss.h"

#include <torch/csrc/autograd/autograd.h>

#include "support/near.h"

namespace blockzoo {
namespace {

/// Deterministic logits with a peak of this height.
Tensor peaked_logits(int64_t tokens, int64_t vocabulary, double peak) {
  const auto i = at::arange(tokens * vocabulary, at::kDouble);
  return ((i * 0.7351).sin() * peak).view({1, tokens, vocabulary});
}

}  // namespace

TEST_CASE("Cross entropy and z-loss of bfloat16 logits agree with float64 on the same logits", "[train][loss][torch]") {
  const auto peak = GENERATE(5.0, 40.0, 160.0);
  const auto logits = peaked_logits(4, 1000, peak).to(at::kBFloat16);
  const auto targets = at::tensor({3, 500, 999, 0}, at::kLong).view({1, 4});
  const auto half = loss_sums(logits, targets, true);
  const auto wide = loss_sums(logits.to(at::kDouble), targets, true);
  CHECK(half.cross_entropy.scalar_type() == at::kFloat);
  CHECK(half.cross_entropy.item<double>() == Approx(wide.cross_entropy.item<double>()).epsilon(1e-5));
  CHECK(half.z.item<double>() == Approx(wide.z.item<double>()).epsilon(1e-5));
}

TEST_CASE("The loss equals at::cross_entropy_loss, and z-loss adds the mean of log(Z) squared",
          "[train][loss][torch]") {
  const auto logits = peaked_logits(6, 11, 3).requires_grad_();
  const auto targets = at::tensor({0, 1, 10, 4, 4, 7}, at::kLong).view({1, 6});
  const auto sums = loss_sums(logits, targets, true);
  const auto expected =
      at::cross_entropy_loss(logits[0], targets[0]) + 0.01 * at::logsumexp(logits[0], -1).square().mean();
  const auto actual = batch_loss(sums, 0.01, sums.tokens);
  check_near("loss", actual, expected, tolerance(at::kDouble));
  check_near("gradient", torch::autograd::grad({actual}, {logits})[0], torch::autograd::grad({expected}, {logits})[0],
             tolerance(at::kDouble));
}

TEST_CASE("Ignored targets do not count, and a batch of nothing but them has loss zero", "[train][loss][torch]") {
  const auto logits = peaked_logits(4, 5, 2);
  const auto some = loss_sums(logits, at::tensor({1, -1, 2, -1}, at::kLong).view({1, 4}), false);
  CHECK(some.tokens == 2);
  const auto one = loss_sums(logits.slice(1, 0, 1), at::tensor({1}, at::kLong).view({1, 1}), false);
  const auto other = loss_sums(logits.slice(1, 2, 3), at::tensor({2}, at::kLong).view({1, 1}), false);
  check_near("sum", some.cross_entropy, one.cross_entropy + other.cross_entropy, tolerance(at::kDouble));
  const auto none = loss_sums(logits, at::full({1, 4}, kIgnored, at::kLong), true);
  CHECK(none.tokens == 0);
  CHECK(batch_loss(none, 1, 0).item<double>() == 0);
}

TEST_CASE("Losses of tokens sum to the cross entropy", "[train][loss][torch]") {
  const auto sums = loss_sums(peaked_logits(5, 7, 4), at::tensor({1, 2, 3, -1, 6}, at::kLong).view({1, 5}), false);
  check_near("sum", sums.token_losses.sum(), sums.cross_entropy, tolerance(at::kDouble));
  CHECK(sums.token_losses[0][3].item<double>() == 0);
}

}  // namespace blockzoo
