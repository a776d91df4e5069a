#include "blockzoo/kernels/attention_observer.h"

#include "blockzoo/kernels/attention.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

/// Keeps all that it hears.
struct Listener final : AttentionObserver {
  std::vector<ObservedAttention> heard;
  void attended(const ObservedAttention& seen) override { heard.push_back(seen); }
};

}  // namespace

TEST_CASE(
    "what attend returns while it is observed is what it returns alone, and comes from the weights that are heard",
    "[kernels][torch][attention][observer]") {
  constexpr int64_t batch = 3, queries = 4, keys = 6, heads = 4;
  const auto q = 2 * ramp("q", {batch, queries, heads, 5});
  for (const int64_t groups : {4, 2, 1}) {
    const auto k = 2 * ramp("k", {batch, keys, groups, 5}), v = ramp("v", {batch, keys, groups, 3});
    const auto values = v.repeat_interleave(heads / groups, 2);  // [B, S, H, W]
    for (const int64_t window : {0, 3}) {
      for (const auto& bias :
           {Tensor(), ramp("bias", {heads, queries, keys}), ramp("bias of each row", {batch, heads, queries, keys})}) {
        for (const auto& absent : {Tensor(), at::tensor({0, 3, 1}, at::kLong)}) {
          INFO(groups << " key heads, window " << window << ", bias of " << (bias.defined() ? bias.dim() : 0)
                      << " dimensions, " << (absent.defined() ? "absent" : "no absent") << " keys");
          const AttendOptions options{.scale = 0.8, .window = window, .softcap = 2, .bias = bias, .absent = absent};
          const auto alone = attend(q, k, v, options);
          Listener listener;
          check_near("observed", attend(q, k, v, options), alone);
          REQUIRE(listener.heard.size() == batch);
          const auto back = at::arange(keys - queries, keys).unsqueeze(1) - at::arange(keys);  // [T, S]
          for (int64_t row = 0; row < batch; ++row) {
            const auto& seen = listener.heard[static_cast<size_t>(row)];
            CHECK(seen.row == row);
            check_near("sums", seen.weights.sum(-1), at::ones({heads, queries}, at::kDouble));
            check_near("softmax", seen.weights, at::softmax(seen.scores, -1));
            const auto first = absent.defined() ? absent[row].item<int64_t>() : 0;
            auto visible = back.ge(0).logical_and(back.lt(window > 0 ? window : keys));
            visible = visible.logical_and(at::arange(keys).ge(first)).logical_or(back.eq(0));
            check_equal("seen keys", seen.scores.isfinite(), visible.expand({heads, queries, keys}));
            check_equal("weights elsewhere", seen.weights.masked_select(visible.logical_not()).sum(),
                        at::zeros({}, at::kDouble));
            const auto mixed = at::einsum("hts,shw->thw", {seen.weights, values[row]});
            const auto tokens = at::arange(keys - queries, keys).ge(first).view({queries, 1, 1});
            check_near("mixed", at::where(tokens, mixed, 0), alone[row]);
          }
        }
      }
    }
  }
}

TEST_CASE("gradients pass an observer as if it were not there", "[kernels][torch][attention][grad][observer]") {
  const auto gradients = [] {
    const auto q = ramp("q", {2, 5, 2, 4}).requires_grad_(), k = ramp("k", {2, 5, 1, 4}).requires_grad_(),
               v = ramp("v", {2, 5, 1, 4}).requires_grad_();
    (attend(q, k, v, {.window = 3}) * ramp("cotangent", {2, 5, 2, 4})).sum().backward();
    return at::cat({q.grad().flatten(), k.grad().flatten(), v.grad().flatten()});
  };
  const auto expected = gradients();
  Listener listener;
  check_near("gradients", gradients(), expected);
  CHECK_FALSE(listener.heard[0].weights.requires_grad());
}

TEST_CASE("the observer made last hears, the one before it afterwards, and each is told the innermost layer",
          "[kernels][torch][attention][observer]") {
  const auto x = ramp("x", {1, 2, 1, 2});
  Listener outer;
  {
    const AttentionLayerScope fifth(5);
    const Listener inner;
    {
      const AttentionLayerScope seventh(7);
      attend(x, x, x, {});
    }
    attend(x, x, x, {});
    REQUIRE(inner.heard.size() == 2);
    CHECK((inner.heard[0].layer == 7 && inner.heard[1].layer == 5));
  }
  CHECK(outer.heard.empty());
  attend(x, x, x, {});
  REQUIRE(outer.heard.size() == 1);
  CHECK(outer.heard[0].layer == 0);
}

}  // namespace blockzoo
