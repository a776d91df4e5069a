#include <ATen/Parallel.h>
#include <torch/csrc/autograd/function.h>

#include <array>

#include "blockzoo/kernels/activation.h"
#include "blockzoo/kernels/attention.h"
#include "blockzoo/kernels/choice.h"
#include "blockzoo/kernels/cross_entropy.h"
#include "blockzoo/kernels/linear.h"
#include "blockzoo/kernels/rms_norm.h"
#include "blockzoo/kernels/rotary.h"
#include "blockzoo/kernels/square_sum.h"
#include "kernels/attention_tiles.h"
#include "kernels/products.h"
#include "kernels/rows/instructions.h"
#include "kernels/twin.h"

namespace blockzoo {
namespace {

/// Gains stay in float32, as the weights of a model do under autocast.
Operator with_wide_gain(double eps) {
  return [eps](const std::vector<Tensor>& x) {
    return rms_norm(x[0], x[1].scalar_type() == at::kBFloat16 ? x[1].to(at::kFloat) : x[1], eps);
  };
}

}  // namespace

TEST_CASE("RMSNorm in one pass equals the formula, with its gradients", "[kernels][torch][fast]") {
  for (const int64_t width : {1, 3, 16, 24, 100}) {
    for (const int64_t rows : {1, 5, 40}) {
      INFO("width " << width << ", rows " << rows);
      const auto x = ramp("x", {2, rows, 3, width});
      check_against_twin("no gain", [](const auto& t) { return rms_norm(t[0], {}, 1e-6); }, {x});
      check_against_twin("one gain", with_wide_gain(1e-6), {x, ramp("gain", {width})});
      check_against_twin("a gain for every head", with_wide_gain(1e-2), {x, ramp("gain", {3, width})});
    }
  }
}

TEST_CASE("Activations and gates in one pass equal the formulas, with their gradients", "[kernels][torch][fast]") {
  for (const auto& [f, name] : names(Activation{})) {
    for (const int64_t count : {1, 15, 16, 77}) {
      INFO(name << ", " << count << " elements");
      const auto x = 6 * ramp("gate", {count}), up = ramp("up", {count});
      check_against_twin("alone", [f](const auto& t) { return activate(f, t[0]); }, {x});
      check_against_twin("gate", [f](const auto& t) { return gated(f, t[0], t[1]); }, {x, up});
    }
  }
}

TEST_CASE("Activations of extreme numbers are finite and right, and NaN stays NaN", "[kernels][torch][fast]") {
  const auto x = at::tensor({-1e30, -200.0, -89.0, -1e-30, 0.0, 1e-30, 89.0, 200.0, 1e18}, at::kFloat);
  for (const auto& [f, name] : names(Activation{})) {
    INFO(name);
    const auto actual = activate(f, x);
    const auto expected = activate(f, x.to(at::kDouble));
    check_near("value", actual, expected, {1e-6, 2e-6});
    CHECK(activate(f, at::full({3}, NAN, at::kFloat)).isnan().all().item<bool>());
  }
}

TEST_CASE("Rotation in one pass equals the formula, with its gradients", "[kernels][torch][fast]") {
  for (const auto pairing : {RopePairing::kHalf, RopePairing::kInterleaved}) {
    for (const auto& [width, channels] : {std::pair<int64_t, int64_t>{2, 2}, {8, 8}, {24, 6}, {64, 64}, {40, 36}}) {
      for (const bool own_places : {false, true}) {
        INFO(name_of(pairing) << ", width " << width << ", " << channels << " turn");
        const auto x = ramp("x", {2, 5, 3, width});
        const auto angle = 9 * (own_places ? ramp("a", {2, 5, 1, channels / 2}) : ramp("a", {5, 1, channels / 2}));
        const auto cosine = angle.cos().to(at::kFloat), sine = angle.sin().to(at::kFloat);
        check_against_twin("y", [&](const auto& t) { return rotate_pairs(t[0], cosine, sine, pairing); }, {x});
        if (own_places) continue;
        const auto before = at::full({3, 1, channels / 2}, 7, at::kFloat);  // of earlier places
        const auto behind = [&](const Tensor& table) { return at::cat({before, table, before}); };
        const auto later = [&](const auto& t) { return rotate_pairs(t[0], behind(cosine), behind(sine), pairing, 3); };
        check_against_twin("y of later places", later, {x});
        check_equal("y of later places", later(std::vector{x}), rotate_pairs(x, cosine, sine, pairing));
      }
    }
  }
}

TEST_CASE("Cross entropy in one pass equals the formula, with its gradients", "[kernels][torch][fast]") {
  for (const int64_t vocabulary : {1, 11, 16, 259}) {
    INFO("vocabulary " << vocabulary);
    const auto logits = 9 * ramp("logits", {2, 5, vocabulary});
    const auto targets = (at::arange(10) * 7 % vocabulary).view({2, 5}).index_fill(1, at::tensor({3}, at::kLong), -1);
    const auto part = [&](bool log_z) {
      return [&, log_z](const std::vector<Tensor>& t) {
        const auto both = cross_entropy(t[0], targets);
        return (log_z ? both.losses + 0.1 * both.log_z.square() : both.losses).to(t[0].scalar_type());
      };
    };
    check_against_twin("losses", part(false), {logits});
    check_against_twin("losses and log Z", part(true), {logits});
  }
}

TEST_CASE("Numbers that are not finite stay visible in losses and attention", "[kernels][torch][fast]") {
  const auto targets = at::tensor({1, 2}, at::kLong);
  for (const double bad : {double{NAN}, double{INFINITY}}) {
    for (const int64_t place : {0, 20, 36}) {
      auto logits = at::zeros({2, 37});
      logits[1][place] = bad;
      const auto losses = cross_entropy(logits, targets).losses;
      CHECK(losses[0].isfinite().item<bool>());
      CHECK_FALSE(losses[1].isfinite().item<bool>());
      auto x = at::ones({1, 70, 1, 16});
      x[0][place][0][3] = bad;
      CHECK_FALSE(attend(x, x, x, {}).isfinite().all().item<bool>());
    }
  }
}

TEST_CASE("Cross entropy refuses targets beyond the vocabulary", "[kernels][torch][fast]") {
  CHECK_THROWS_WITH(cross_entropy(at::zeros({2, 3}), at::tensor({0, 3}, at::kLong)),
                    Catch::Matchers::ContainsSubstring("must be below 3"));
}

TEST_CASE("Linear maps equal at::linear, with bias, odd shapes and gaps", "[kernels][torch][fast]") {
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{1, 1}, {7, 5}, {16, 33}, {100, 8}}) {
    INFO(in << " to " << out);
    const auto w = ramp("w", {out, in}), b = ramp("b", {out});
    for (const auto& x : {ramp("x", {6, in}), ramp("x", {2, 3, in}), ramp("x", {2, 2, 3, in}), ramp("x", {1, in}),
                          ramp("x", {in, 4}).t(), ramp("x", {3, 2, in}).transpose(0, 1)}) {
      check_share([](const auto& t) { return linear_map(t[0], t[1]); }, {x, w}, at::kFloat, 1e-5);
      check_share([](const auto& t) { return linear_map(t[0], t[1], t[2]); }, {x, w, b}, at::kFloat, 1e-5);
    }
  }
}

TEST_CASE("Products by everyone equal the definition, of every size and stride", "[kernels][torch][fast]") {
  using enum Multiplier;
  for (const auto& [rows, in, out] : {std::array<int64_t, 3>{1, 1, 1}, {17, 30, 9}, {130, 70, 100}, {20, 1600, 5}}) {
    INFO(rows << " rows, " << in << " to " << out);
    const auto a = ramp("a", {in, rows}).to(at::kFloat), b = ramp("b", {in, out}).to(at::kFloat),
               bias = ramp("bias", {2 * out}).to(at::kFloat).slice(0, 0, 2 * out, 2);
    const auto product = a.to(at::kDouble).t().mm(b.to(at::kDouble));
    const double tolerance = 1e-6 * a.abs().t().mm(b.abs()).max().item<double>();
    const auto with_gaps = ramp("b", {2 * in, out}).to(at::kFloat).t().slice(1, 0, 2 * in, 2);
    for (const auto multiplier : {kBlas, kOnednn, kRows}) {
      if (multiplier == kOnednn && !onednn_is_there()) continue;
      const auto check = [&](const std::string& name, const Tensor& actual, const Tensor& expected) {
        check_near(name_of(multiplier) + " " + name, actual, expected, {tolerance, 1e-6});
      };
      check("by transposed operands", linear_by(multiplier, a.t(), b.t(), {}), product);
      check("as they lie", linear_by(multiplier, a.t().contiguous(), b.t().contiguous(), {}), product);
      check("in a batch", linear_by(multiplier, a.t().unsqueeze(0), b.t(), {}), product.unsqueeze(0));
      check("with bias", linear_by(multiplier, a.t(), b.t(), bias), product + bias.to(at::kDouble));
      check("with gaps", linear_by(multiplier, a.t(), with_gaps, {}),
            a.to(at::kDouble).t().mm(with_gaps.to(at::kDouble).t()));
    }
  }
}

TEST_CASE("Weight gradients by everyone equal the definition, of every size", "[kernels][torch][fast]") {
  using enum Multiplier;
  for (const int64_t rows : {1, 7, 256, 300}) {
    for (const auto& [out, in] : {std::pair<int64_t, int64_t>{1, 1}, {12, 32}, {13, 33}, {250, 40}, {5, 1100}}) {
      INFO(rows << " rows, " << in << " to " << out);
      const auto dy = ramp("dy", {rows, out}).to(at::kFloat), x = ramp("x", {rows, in}).to(at::kFloat);
      const auto expected = dy.to(at::kDouble).t().mm(x.to(at::kDouble));
      const auto largest = dy.abs().to(at::kDouble).t().mm(x.abs().to(at::kDouble)).max().item<double>();
      for (const auto multiplier : {kBlas, kOnednn, kRows}) {
        if (multiplier == kOnednn && !onednn_is_there()) continue;
        Tensor packed;
        check_near(name_of(multiplier), weight_gradient_by(multiplier, dy, x, packed), expected,
                   {.absolute = 1e-6 * largest, .relative = 0});
      }
    }
  }
}

TEST_CASE("Weight gradients by rows are bit for bit the same with every number of threads", "[kernels][torch][fast]") {
  const auto dy = ramp("dy", {300, 130}).to(at::kFloat), x = ramp("x", {300, 70}).to(at::kFloat);
  const auto threads = at::get_num_threads();
  Tensor packed;
  const auto expected = weight_gradient_by(Multiplier::kRows, dy, x, packed);
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    Tensor fresh;
    check_equal(std::to_string(count) + " threads", weight_gradient_by(Multiplier::kRows, dy, x, fresh), expected);
    check_equal("packed before", weight_gradient_by(Multiplier::kRows, dy, x, fresh), expected);
  }
  at::set_num_threads(threads);
}

TEST_CASE("The sum of squares is the same with every number of threads, and of every kind of tensor",
          "[kernels][torch][fast]") {
  const std::vector<Tensor> tensors{ramp("a", {300, 500}).to(at::kFloat), ramp("b", {7}).to(at::kFloat),
                                    at::empty({0, 3})};
  double expected = 0;
  for (const auto& tensor : tensors) expected += tensor.to(at::kDouble).square().sum().item<double>();
  const auto threads = at::get_num_threads();
  const double sum = square_sum(tensors);
  CHECK(sum == Approx(expected).epsilon(1e-12));
  for (const int count : {1, 3}) {
    at::set_num_threads(count);
    CHECK(square_sum(tensors) == sum);
  }
  at::set_num_threads(threads);
  CHECK(square_sum({tensors[0].t(), tensors[1].to(at::kDouble)}) ==
        Approx(square_sum({tensors[0], tensors[1]})).epsilon(1e-12));
  CHECK(square_sum({}) == 0);
  CHECK(std::isnan(square_sum({at::full({20}, NAN)})));
  CHECK(std::isinf(square_sum({at::full({20}, INFINITY)})));
  const KernelScope reference(Kernels::kReference);
  CHECK(square_sum(tensors) == Approx(expected).epsilon(1e-12));
}

TEST_CASE("The matrix library is chosen by processor and LibTorch alone", "[kernels][fast]") {
  using enum Multiplier;
  const ProcessorKind intel{.x86 = true, .pairs = true}, zen3{.x86 = true, .amd = true},
      zen4{.x86 = true, .amd = true, .pairs = true}, zen5{.x86 = true, .amd = true, .pairs = true, .at_once = true};
  CHECK(products_for(intel, /*mkl=*/true).outputs == kBlas);
  CHECK(products_for(intel, /*mkl=*/true).weight_gradients == kBlas);
  CHECK(products_for(intel, /*mkl=*/false).outputs == kOnednn);
  CHECK(products_for(intel, /*mkl=*/false).weight_gradients == kOnednn);
  for (const bool mkl : {false, true}) {
    CHECK(products_for(zen3, mkl).outputs == kOnednn);
    CHECK(products_for(zen4, mkl).outputs == kRows);
    CHECK(products_for(zen5, mkl).outputs == kOnednn);
    for (const auto& amd : {zen3, zen4, zen5}) CHECK(products_for(amd, mkl).weight_gradients == kRows);
  }
}

TEST_CASE("A kernel scope holds while it lives, and its backward follows its forward", "[kernels][torch][fast]") {
  CHECK(kernels_in_use() == Kernels::kFast);
  const auto x = ramp("x", {2, 3, 16}).to(at::kFloat).requires_grad_();
  Tensor reference, fast = rms_norm(x, {}, 1e-6);
  {
    const KernelScope scope(Kernels::kReference);
    CHECK(kernels_in_use() == Kernels::kReference);
    reference = rms_norm(x, {}, 1e-6);
    CHECK(fast.grad_fn()->name().find("FusedRmsNorm") != std::string::npos);
  }
  CHECK(kernels_in_use() == Kernels::kFast);
  CHECK(reference.grad_fn()->name().find("FusedRmsNorm") == std::string::npos);
  CHECK(describe(Kernels::kReference) == "reference");
  CHECK(describe(Kernels::kFast).starts_with("fast (products by "));
}

TEST_CASE("Kernels take empty inputs, and inputs with gaps", "[kernels][torch][fast]") {
  const auto empty = at::zeros({0, 4, 2, 8});
  CHECK(rms_norm(empty, at::ones({8}), 1e-6).sizes() == empty.sizes());
  CHECK(activate(Activation::kSilu, empty).sizes() == empty.sizes());
  CHECK(gated(Activation::kSilu, empty, empty).sizes() == empty.sizes());
  CHECK(linear_map(empty, at::ones({3, 8})).size(-1) == 3);
  CHECK(rotate_pairs(empty, at::ones({4, 1, 4}), at::ones({4, 1, 4}), RopePairing::kHalf).sizes() == empty.sizes());
  CHECK(attend(empty, empty, empty, {}).sizes() == empty.sizes());
  CHECK(cross_entropy(at::zeros({0, 5}), at::zeros({0}, at::kLong)).losses.numel() == 0);
  const auto gaps = ramp("x", {8, 5, 4}).permute({2, 1, 0});
  check_against_twin("norm", with_wide_gain(1e-6), {gaps, ramp("gain", {8})});
  check_against_twin("gate", [](const auto& t) { return gated(Activation::kGeluTanh, t[0], t[1].transpose(0, 1)); },
                     {gaps, ramp("up", {5, 4, 8})});
}

TEST_CASE("Attention in tiles equals the formula, with its gradients", "[kernels][torch][fast][attention]") {
  struct Case {
    int64_t length, keys, heads, groups, width, value_width;
  };
  for (const auto& c : {Case{2, 2, 1, 1, 8, 8}, Case{70, 70, 2, 2, 24, 24}, Case{64, 64, 4, 2, 16, 8},
                        Case{130, 130, 3, 1, 32, 20}, Case{40, 150, 2, 1, 8, 24}, Case{65, 129, 2, 2, 5, 3}}) {
    for (const int64_t window : {0, 1, 7, 64, 100}) {
      for (const double softcap : {0.0, 1.5}) {
        for (const bool biased : {false, true}) {
          INFO("T " << c.length << ", S " << c.keys << ", H " << c.heads << ", G " << c.groups << ", K " << c.width
                    << ", W " << c.value_width << ", window " << window << ", cap " << softcap << ", bias " << biased);
          const auto q = 2 * ramp("q", {2, c.length, c.heads, c.width}),
                     k = 2 * ramp("k", {2, c.keys, c.groups, c.width}),
                     v = ramp("v", {2, c.keys, c.groups, c.value_width});
          const auto bias = ramp("bias", {c.heads, c.length, c.keys});
          const Operator biased_attention = [&](const auto& t) {
            AttendOptions options{.scale = 0.4, .window = window, .softcap = softcap};
            const bool wide = t[0].scalar_type() == at::kDouble;
            if (biased) options.bias = bias.to(at::kFloat).to(wide ? at::kDouble : at::kFloat);
            return attend(t[0], t[1], t[2], options);
          };
          check_share(biased_attention, {q, k, v}, at::kFloat, 1e-5);
          // Products of pairs sum rounded weights: 2^-8 of each, and once more of the sum.
          check_share(biased_attention, {q, k, v}, at::kBFloat16, rows::multiplies_pairs() ? 0x1p-7 : 0x1p-8);
        }
      }
    }
  }
}

TEST_CASE("NaN comes through attention in tiles, to the queries that see it", "[kernels][torch][fast][attention]") {
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    for (const size_t bad : {0, 1, 2}) {
      INFO(type << ", " << (bad == 0 ? "query" : bad == 1 ? "key" : "value"));
      std::vector<Tensor> inputs;
      for (const std::string name : {"q", "k", "v"}) inputs.push_back(ramp(name, {1, 70, 1, 16}).to(type));
      inputs[bad][0][40][0].fill_(NAN);
      const auto finite = attend(inputs[0], inputs[1], inputs[2], {.scale = 0.5}).isfinite().all(-1).flatten();
      CHECK_FALSE(finite[40].item<bool>());
      CHECK(finite[69].item<bool>() == (bad == 0));
      CHECK(finite[20].item<bool>());
    }
  }
}

TEST_CASE("Biases by distance are added in tiles, and learn", "[kernels][torch][fast][attention]") {
  for (const auto& [length, keys, groups] :
       {std::array<int64_t, 3>{2, 2, 1}, {70, 70, 2}, {64, 64, 2}, {40, 150, 1}, {130, 130, 2}}) {
    for (const int64_t window : {0, 7, 100}) {
      for (const double softcap : {0.0, 1.5}) {
        INFO("T " << length << ", S " << keys << ", G " << groups << ", window " << window << ", cap " << softcap);
        const Operator biased = [&](const auto& t) {
          AttendOptions options{.scale = 0.4, .window = window, .softcap = softcap};
          options.distance_bias = t[3];
          return attend(t[0], t[1], t[2], options);
        };
        const std::vector<Tensor> inputs{2 * ramp("q", {2, length, 2, 24}), 2 * ramp("k", {2, keys, groups, 24}),
                                         ramp("v", {2, keys, groups, 16}), ramp("bias", {keys, 2}).t()};
        check_share(biased, inputs, at::kFloat, 1e-5);
        check_share(biased, inputs, at::kBFloat16, 0x1p-7);  // a bias's gradient sums that of up to 130 rounded rows
      }
    }
  }
}

TEST_CASE("Biases of every pair learn in tiles, wherever they lie in memory", "[kernels][torch][fast][attention]") {
  for (const auto& [length, keys, groups] :
       {std::array<int64_t, 3>{2, 2, 1}, {70, 70, 2}, {64, 64, 2}, {40, 150, 1}, {130, 130, 2}}) {
    for (const int64_t window : {0, 7, 100}) {
      INFO("T " << length << ", S " << keys << ", G " << groups << ", window " << window);
      const Operator biased = [&, window = window](const auto& t) {
        AttendOptions options{.scale = 0.4, .window = window, .softcap = window == 7 ? 1.5 : 0};
        options.bias = t[3].to(at::promote_types(t[3].scalar_type(), at::kFloat)).transpose(0, 1);
        REQUIRE((t[0].scalar_type() == at::kDouble || tiles_fit(t[0], t[1], t[2], options)));
        return attend(t[0], t[1], t[2], options);
      };
      const std::vector<Tensor> inputs{2 * ramp("q", {2, length, 2, 24}), 2 * ramp("k", {2, keys, groups, 24}),
                                       ramp("v", {2, keys, groups, 16}), ramp("bias", {2, 2, length, keys})};
      check_share(biased, inputs, at::kFloat, 1e-5);
      check_share(biased, inputs, at::kBFloat16, 0x1p-7);
    }
  }
}

TEST_CASE("Biases by distance are those of every pair", "[kernels][torch][attention]") {
  const auto q = ramp("q", {1, 5, 2, 8}), k = ramp("k", {1, 9, 2, 8}), v = ramp("v", {1, 9, 2, 8});
  const auto by_distance = ramp("bias", {2, 9});
  auto pairs = at::zeros({2, 5, 9}, at::kDouble);
  for (int64_t t = 0; t < 5; ++t)
    for (int64_t s = 0; s <= 4 + t; ++s) pairs.select(1, t).select(1, s).copy_(by_distance.select(1, 4 + t - s));
  AttendOptions of_pairs{.scale = 0.3}, of_distances = of_pairs;
  of_pairs.bias = pairs;
  of_distances.distance_bias = by_distance;
  check_near("y", attend(q, k, v, of_distances), attend(q, k, v, of_pairs));
}

TEST_CASE("Dropout in tiles drops its share, and its backward drops the same weights",
          "[kernels][torch][fast][attention]") {
  constexpr int64_t length = 80;
  const auto q = ramp("q", {2, length, 3, 16}).to(at::kFloat), k = ramp("k", {2, length, 3, 16}).to(at::kFloat),
             v = ramp("v", {2, length, 3, 16}).to(at::kFloat);
  const auto dropped = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    at::manual_seed(7);
    return attend(q, k, v, {.scale = 0.5, .dropout = 0.25});
  };
  const auto identity = at::eye(length).view({1, length, 1, length}).expand({2, length, 3, length}).contiguous();
  const auto weights = dropped(q, k, identity).transpose(1, 2);  // [B, H, T, S]
  const auto seen = at::ones({length, length}, at::kBool).tril().expand_as(weights);
  const auto keep = weights.ne(0).to(at::kDouble) / 0.75;
  const double share = weights.masked_select(seen).eq(0).to(at::kDouble).mean().item<double>();
  CHECK(share == Approx(0.25).margin(0.01));  // of 19,440 weights: three standard deviations
  const auto by_mask = [&](const std::vector<Tensor>& t) {
    auto scores = at::einsum("bthk,bshk->bhts", {t[0], t[1]}) * 0.5;
    scores = scores.masked_fill(seen.logical_not(), -INFINITY);
    return at::einsum("bhts,bshw->bthw", {at::softmax(scores, -1) * keep, t[2]});
  };
  const auto wide = results(by_mask, {q.to(at::kDouble), k.to(at::kDouble), v.to(at::kDouble)}, at::kFloat);
  const auto tiled = results([&](const auto& t) { return dropped(t[0], t[1], t[2]); }, {q, k, v}, at::kFloat);
  for (size_t i = 0; i < wide.size(); ++i) check_near("result " + std::to_string(i), tiled[i], wide[i], {1e-5, 1e-5});
  at::manual_seed(8);
  CHECK_FALSE(at::equal(attend(q, k, v, {.scale = 0.5, .dropout = 0.25}), tiled[0]));
}

TEST_CASE("Attention in tiles gives equal results for equal sequences, whatever the threads",
          "[kernels][torch][fast][attention]") {
  const auto threads = at::get_num_threads();
  const auto run = [](int count) {
    at::set_num_threads(count);
    const auto x = ramp("x", {3, 150, 4, 16}).to(at::kFloat);
    return results([](const auto& t) { return attend(t[0], t[1], t[2], {.scale = 0.3}); }, {x, x, x}, at::kFloat);
  };
  const auto one = run(1), two = run(2);
  at::set_num_threads(threads);
  for (size_t i = 0; i < one.size(); ++i) check_equal("result " + std::to_string(i), two[i], one[i]);
}

}  // namespace blockzoo
