#include "blockzoo/kernels/largest_outputs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "blockzoo/kernels/choice.h"
#include "blockzoo/kernels/linear.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

/// Every output that is the largest is there, and what is there is what the whole map gives. Returns how many are.
int64_t check_largest(const Tensor& x, const Tensor& w, const Tensor& b) {
  const auto whole = linear_map(x, w, b).view(-1);
  const auto some = LargestOutputs(w, b)(x);
  const auto numbers = at::tensor(some.numbers, at::kLong);
  CHECK(std::is_sorted(some.numbers.begin(), some.numbers.end()));
  CHECK(some.values.scalar_type() == whole.scalar_type());
  check_equal("values", some.values, whole.index_select(0, numbers));
  CHECK((some.values == whole.max()).sum().item<int64_t>() == (whole == whole.max()).sum().item<int64_t>());
  return std::ssize(some.numbers);
}

struct Drawn {
  Tensor x, w, b;

  Drawn(int64_t outputs, int64_t inputs, at::ScalarType type) {
    at::manual_seed(7);
    x = at::randn({1, 1, inputs}).to(type);
    w = (at::randn({outputs, inputs}) / 50).to(type);
    b = (at::randn({outputs}) / 50).to(type);
  }
};

}  // namespace

TEST_CASE("The largest outputs of a map are found without the others", "[kernels][torch][fast]") {
  const c10::InferenceMode inference;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const auto& [outputs, inputs] :
         {std::pair<int64_t, int64_t>{1, 1}, {3, 70}, {4099, 8}, {2053, 512}, {6001, 130}}) {
      INFO(type << ", " << inputs << " to " << outputs);
      const Drawn drawn(outputs, inputs, type);
      const auto kept = check_largest(drawn.x, drawn.w, drawn.b);
      check_largest(drawn.x, drawn.w, {});
      check_largest(-drawn.x, drawn.w, drawn.b - 3);
      if (outputs > 1000) CHECK(kept < outputs / 16);
    }
  }
}

TEST_CASE("Equal outputs, and those that rounding makes equal, are found together", "[kernels][torch][fast]") {
  const c10::InferenceMode inference;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    INFO(type);
    Drawn drawn(4000, 64, type);
    const auto top = linear_map(drawn.x, drawn.w).argmax().item<int64_t>();
    for (int64_t place = 0; place < 40; ++place) {
      drawn.w[97 * place] = drawn.w[top];
      drawn.w[97 * place][place] *= 1.01;
    }
    drawn.w[3999] = drawn.w[1000] = drawn.w[top];
    CHECK(check_largest(drawn.x, drawn.w, {}) >= 3);
  }
}

TEST_CASE("Rows that 8 bits hold badly are found all the same", "[kernels][torch][fast]") {
  const c10::InferenceMode inference;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    INFO(type);
    Drawn drawn(3000, 96, type);
    drawn.x[0][0][5] = 0;
    const auto outliers = drawn.w.select(1, 5).slice(0, 0, 3000, 50);
    outliers.fill_(40);  // their other weights are all rounded to zero
    check_largest(drawn.x, drawn.w, {});
    check_largest(drawn.x, drawn.w * 1e-20, {});
    check_largest(drawn.x, drawn.w * 1e-30, {});
    check_largest(drawn.x, at::zeros_like(drawn.w), {});
    check_largest(at::zeros_like(drawn.x), drawn.w, drawn.b);
    check_largest(drawn.x * 1e-30, drawn.w, {});
  }
}

TEST_CASE("What is no number is not hidden", "[kernels][torch][fast]") {
  const c10::InferenceMode inference;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
      INFO(type << ", " << bad);
      Drawn drawn(3000, 96, type);
      drawn.w[1234][17] = bad;
      const auto y = LargestOutputs(drawn.w, {})(drawn.x).values, whole = linear_map(drawn.x, drawn.w).view(-1);
      CHECK(at::equal(y.isnan(), whole.isnan()));
      CHECK(at::equal(y.isposinf(), whole.isposinf()));
      drawn.x[0][0][0] = bad;
      CHECK(LargestOutputs(drawn.w, {})(drawn.x).values.isfinite().logical_not().any().item<bool>());
    }
  }
}

TEST_CASE("Only large matrices of fast kernels are searched", "[kernels][torch][fast]") {
  const auto large = at::zeros({2048, 512});
  CHECK(LargestOutputs::fits(large, {}));
  CHECK(LargestOutputs::fits(large.to(at::kBFloat16), at::zeros({2048}, at::kBFloat16)));
  CHECK_FALSE(LargestOutputs::fits(large, at::zeros({2048}, at::kBFloat16)));
  CHECK_FALSE(LargestOutputs::fits(large.to(at::kDouble), {}));
  CHECK_FALSE(LargestOutputs::fits(large.slice(0, 0, 2047), {}));
  const KernelScope reference(Kernels::kReference);
  CHECK_FALSE(LargestOutputs::fits(large, {}));
}

}  // namespace blockzoo
