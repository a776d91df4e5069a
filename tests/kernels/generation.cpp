// Kernels of a step of generation, which take few rows and record no gradient, against the formulas in float64.
#include "blockzoo/kernels/attention.h"
#include "blockzoo/kernels/choice.h"
#include "blockzoo/kernels/linear.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

/// `actual` against the formula in float64 on the same numbers: 1e-5 of the largest magnitude in float32; 2^-8 in
/// bfloat16, where the result is rounded once.
void check_rounded(const Tensor& actual, const Tensor& expected) {
  const double share = actual.scalar_type() == at::kFloat ? 1e-5 : 0x1p-8;
  check_near("y", actual, expected, {share * expected.abs().max().item<double>(), 0});
}

}  // namespace

TEST_CASE("Few rows times a matrix equal the formula, and no row depends on what the others hold",
          "[kernels][torch][fast]") {
  const c10::InferenceMode inference;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const auto& [in, out] : {std::pair<int64_t, int64_t>{1, 1}, {7, 5}, {16, 33}, {100, 8}, {130, 19}}) {
      const auto w = ramp("w", {out, in}).to(type), b = ramp("b", {out}).to(type);
      const auto all = ramp("x", {17, in}).to(type);
      for (const int64_t rows : {1, 2, 4, 7, 9, 16, 17}) {
        INFO(type << ", " << in << " to " << out << ", " << rows << " rows");
        const auto x = all.slice(0, 0, rows);
        const auto expected = at::linear(x.to(at::kDouble), w.to(at::kDouble), b.to(at::kDouble));
        const auto y = linear_map(x.view({rows, 1, in}), w, b);
        CHECK(y.sizes() == at::IntArrayRef({rows, 1, out}));
        CHECK(y.scalar_type() == type);
        check_rounded(y.squeeze(1), expected);
        check_rounded(linear_map(x, w), at::linear(x.to(at::kDouble), w.to(at::kDouble)));
        if (rows > 16) continue;
        const auto fewest = rows > 8 ? 9 : 1;  // of its kind: more than eight are added up otherwise by AVX-512
        check_equal("the last row among others", linear_map(x.slice(0, rows - fewest), w, b)[fewest - 1],
                    y.squeeze(1)[rows - 1]);
      }
      check_rounded(linear_map(all.t().contiguous().t().slice(0, 0, 3), w),
                    at::linear(all.slice(0, 0, 3).to(at::kDouble), w.to(at::kDouble)));
    }
  }
}

TEST_CASE("Maps of one x give what each gives alone", "[kernels][torch][fast]") {
  const auto check = [](const Tensor& x, const std::vector<LinearMap>& maps) {
    const auto all = linear_maps(x, maps);
    REQUIRE(all.size() == maps.size());
    for (size_t i = 0; i < maps.size(); ++i)
      check_equal("map " + std::to_string(i), all[i], linear_map(x, maps[i].weight, maps[i].bias));
  };
  const auto drawn = [](const char* name, at::IntArrayRef sizes, at::ScalarType type) {
    return ramp(name, sizes.vec()).to(type);
  };
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const std::vector<LinearMap> maps{{drawn("q", {300, 130}, type), drawn("b", {300}, type)},
                                      {drawn("k", {7, 130}, type), {}},
                                      {drawn("v", {301, 130}, type), {}}};
    for (const int64_t rows : {1, 5, 12, 40}) {
      INFO(type << ", " << rows << " rows");
      const auto x = drawn("x", {rows, 1, 130}, type);
      check(x, maps);
      const c10::InferenceMode inference;
      check(drawn("x", {rows, 1, 130}, type), maps);
    }
  }
}

TEST_CASE("A linear map of few rows still has its gradients where they are recorded", "[kernels][torch][fast]") {
  const auto x = ramp("x", {2, 5}).to(at::kFloat).requires_grad_();
  linear_map(x, ramp("w", {3, 5}).to(at::kFloat)).sum().backward();
  CHECK(x.grad().defined());
}

TEST_CASE("Attention of one query equals the formula for every option", "[kernels][torch][fast][attention]") {
  const c10::InferenceMode inference;
  struct Case {
    int64_t keys, heads, groups, width, value_width;
  };
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const auto& c : {Case{1, 1, 1, 8, 8}, Case{7, 4, 2, 24, 24}, Case{64, 4, 4, 16, 8}, Case{131, 6, 1, 5, 70}}) {
      // As a cache has them: one head's columns lie together, with room behind them.
      const auto kept = [&](const char* name, int64_t width) {
        return ramp(name, {2, c.groups, c.keys + 3, width}).to(type).narrow(2, 1, c.keys).transpose(1, 2);
      };
      const auto q = (2 * ramp("q", {2, 1, c.heads, c.width})).to(type), k = kept("k", c.width),
                 v = kept("v", c.value_width);
      for (const int64_t window : {int64_t{0}, int64_t{3}, c.keys}) {
        for (const double softcap : {0.0, 1.5}) {
          for (const auto* const biased : {"", "pairs", "distances"}) {
            for (const int64_t absent : {int64_t{-1}, int64_t{2}, c.keys}) {
              INFO(type << ", S " << c.keys << ", H " << c.heads << ", window " << window << ", cap " << softcap
                        << ", bias " << biased << ", absent " << absent);
              AttendOptions options{.scale = 0.4, .window = window, .softcap = softcap}, wide = options;
              const auto bias = ramp("bias", {c.keys, c.heads}).to(at::kFloat).t();  // as a table gives it
              if (biased == std::string_view("pairs")) {
                options.bias = bias.contiguous().unsqueeze(1);
                wide.bias = options.bias.to(at::kDouble);
              } else if (biased == std::string_view("distances")) {
                options.distance_bias = bias;
                wide.distance_bias = bias.to(at::kDouble);
              }
              if (absent >= 0) options.absent = wide.absent = at::tensor({int64_t{0}, absent}, at::kLong);
              check_rounded(attend(q, k, v, options),
                            attend(q.to(at::kDouble), k.to(at::kDouble), v.to(at::kDouble), wide));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Numbers that are not finite stay visible in a step of generation", "[kernels][torch][fast][attention]") {
  const c10::InferenceMode inference;
  for (const double bad : {double{NAN}, double{INFINITY}}) {
    for (const int64_t place : {0, 20, 36}) {
      auto x = at::ones({1, 37, 1, 16});
      x[0][place][0][3] = bad;
      CHECK_FALSE(attend(x.slice(1, 36), x, x, {}).isfinite().all().item<bool>());
      auto row = at::ones({1, 37});
      row[0][place] = bad;
      CHECK_FALSE(linear_map(row, at::ones({3, 37})).isfinite().any().item<bool>());
    }
  }
}

}  // namespace blockzoo
