#include "blockzoo/kernels/attention.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

Tensor heads(const std::string& name, int64_t batch, int64_t length, int64_t count, int64_t width) {
  return 2 * ramp(name, {batch, length, count, width});
}

}  // namespace

TEST_CASE("the last T queries of a sequence see what they see among all, on every path",
          "[kernels][torch][identity][attention]") {
  for (const int64_t groups : {4, 2, 1}) {
    for (const int64_t window : {0, 1, 3, 7, 20}) {
      for (const double softcap : {0.0, 0.7}) {
        for (const bool biased : {false, true}) {
          const auto q = heads("q", 2, 7, 4, 3), k = heads("k", 2, 7, groups, 3), v = heads("v", 2, 7, groups, 5);
          AttendOptions options{.scale = 0.8, .window = window, .softcap = softcap};
          if (biased) options.bias = ramp("bias", {4, 7, 7});
          const auto all = attend(q, k, v, options);
          for (int64_t last = 1; last <= 7; ++last) {
            INFO(groups << " key heads, window " << window << ", cap " << softcap << ", bias " << biased
                        << ", the last " << last);
            auto some = options;
            if (biased) some.bias = options.bias.slice(1, 7 - last);
            check_near("output", attend(q.slice(1, 7 - last), k, v, some), all.slice(1, 7 - last));
          }
        }
      }
    }
  }
}

TEST_CASE("keys that are absent at the start of a row change nothing, and queries of absent places give zero",
          "[kernels][torch][identity][attention]") {
  const std::vector<int64_t> absent{0, 2, 6};
  for (const int64_t groups : {4, 1}) {
    for (const int64_t window : {0, 1, 3}) {
      for (const double softcap : {0.0, 0.7}) {
        for (const int64_t last : {1, 3, 7}) {
          INFO(groups << " key heads, window " << window << ", cap " << softcap << ", the last " << last);
          auto q = heads("q", 3, 7, 4, 3).slice(1, 7 - last).clone().requires_grad_(),
               k = heads("k", 3, 7, groups, 3).requires_grad_(), v = heads("v", 3, 7, groups, 5).requires_grad_();
          AttendOptions options{.scale = 0.8, .window = window, .softcap = softcap};
          options.absent = at::tensor(absent);
          const auto y = attend(q, k, v, options);
          options.absent = Tensor();
          for (int64_t row = 0; row < 3; ++row) {
            const auto first = absent[static_cast<size_t>(row)], there = std::min(last, 7 - first);
            const auto alone =
                attend(q.slice(0, row, row + 1).slice(1, last - there), k.slice(0, row, row + 1).slice(1, first),
                       v.slice(0, row, row + 1).slice(1, first), options);
            check_near("row " + std::to_string(row), y[row].slice(0, last - there), alone[0]);
            check_equal("absent queries", y[row].slice(0, 0, last - there),
                        at::zeros({last - there, 4, 5}, at::kDouble));
          }
          y.sum().backward();
          for (const auto& leaf : {q, k, v}) CHECK(leaf.grad().isfinite().all().item<bool>());
          check_equal("gradient of absent values", v.grad()[2].slice(0, 0, 6), at::zeros({6, groups, 5}, at::kDouble));
        }
      }
    }
  }
}

TEST_CASE("attend refuses more queries than keys", "[kernels][torch][error]") {
  CHECK_THROWS_WITH(attend(at::ones({1, 4, 2, 2}), at::ones({1, 3, 2, 2}), at::ones({1, 3, 2, 2}), {}),
                    Catch::Matchers::ContainsSubstring("[attend]"));
}

}  // namespace blockzoo
