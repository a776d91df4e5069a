#include "blockzoo/nn/element_flops.h"

#include <cmath>
#include <functional>

#include "support/catch.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

/// A number whose operations are counted.
struct Counted {
  double value;
  static inline int64_t count = 0;
};
Counted tallied(double value) {
  ++Counted::count;
  return {value};
}
Counted operator+(Counted a, Counted b) { return tallied(a.value + b.value); }
Counted operator-(Counted a, Counted b) { return tallied(a.value - b.value); }
Counted operator*(Counted a, Counted b) { return tallied(a.value * b.value); }
Counted operator/(Counted a, Counted b) { return tallied(a.value / b.value); }
Counted operator-(Counted a) { return {-a.value}; }
Counted root(Counted a) { return tallied(std::sqrt(a.value)); }
Counted largest(Counted a, Counted b) { return tallied(std::max(a.value, b.value)); }
Counted exponential(Counted a) { return tallied(std::exp(a.value)); }
Counted tangent(Counted a) { return tallied(std::tanh(a.value)); }
Counted error(Counted a) { return tallied(std::erf(a.value)); }
Counted below_zero(Counted a, Counted then, Counted otherwise) {
  ++Counted::count;
  return a.value < 0 ? then : otherwise;
}

using Numbers = std::vector<Counted>;

Numbers some_numbers(size_t count) {
  Numbers numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back({0.3 + 0.1 * static_cast<double>(i)});
  return numbers;
}

Counted sum_over(size_t count, const std::function<Counted(size_t)>& term) {
  Counted sum{0};
  for (size_t i = 0; i < count; ++i) sum = sum + term(i);
  return sum;
}

/// Operations of `work`.
double counted(const std::function<void()>& work) {
  Counted::count = 0;
  work();
  return static_cast<double>(Counted::count);
}

constexpr size_t kWidth = 7;

/// Forward and backward of one row, as the papers' formulas and their derivatives have it, with gain and bias.
struct NormByHand {
  PassFlops flops;

  void rms() {
    const Counted n{kWidth};
    Numbers x = some_numbers(kWidth), g = x, dy = x, y = x, dx = x, dg = x;
    Counted s{0};
    flops.forward = counted([&] {
      s = Counted{1} / root(sum_over(kWidth, [&](size_t i) { return x[i] * x[i]; }) / n + Counted{1e-6});
      for (size_t i = 0; i < kWidth; ++i) y[i] = x[i] * s * g[i];
    });
    flops.backward = counted([&] {
      Numbers gdy = dy;
      for (size_t i = 0; i < kWidth; ++i) gdy[i] = g[i] * dy[i];
      const auto along = s * s * s * sum_over(kWidth, [&](size_t i) { return gdy[i] * x[i]; }) / n;
      for (size_t i = 0; i < kWidth; ++i) {
        dx[i] = s * gdy[i] - x[i] * along;
        dg[i] = dg[i] + dy[i] * x[i] * s;
      }
    });
  }

  void layer() {
    const Counted n{kWidth};
    Numbers x = some_numbers(kWidth), g = x, b = x, dy = x, z = x, y = x, dx = x, dg = x, db = x;
    Counted s{0};
    flops.forward = counted([&] {
      const auto mean = sum_over(kWidth, [&](size_t i) { return x[i]; }) / n;
      for (size_t i = 0; i < kWidth; ++i) z[i] = x[i] - mean;
      s = Counted{1} / root(sum_over(kWidth, [&](size_t i) { return z[i] * z[i]; }) / n + Counted{1e-5});
      for (size_t i = 0; i < kWidth; ++i) {
        z[i] = z[i] * s;
        y[i] = z[i] * g[i] + b[i];
      }
    });
    flops.backward = counted([&] {
      Numbers gdy = dy;
      for (size_t i = 0; i < kWidth; ++i) gdy[i] = g[i] * dy[i];
      const auto mean = sum_over(kWidth, [&](size_t i) { return gdy[i]; }) / n;
      const auto along = sum_over(kWidth, [&](size_t i) { return gdy[i] * z[i]; }) / n;
      for (size_t i = 0; i < kWidth; ++i) {
        dx[i] = s * (gdy[i] - mean - z[i] * along);
        dg[i] = dg[i] + dy[i] * z[i];
        db[i] = db[i] + dy[i];
      }
    });
  }

  void scale() {
    Numbers x = some_numbers(kWidth), dy = x, y = x, dx = x;
    Counted g{2}, dg{0}, length{0}, factor{0};
    flops.forward = counted([&] {
      length = largest(root(sum_over(kWidth, [&](size_t i) { return x[i] * x[i]; })), Counted{1e-5});
      factor = g / length;
      for (size_t i = 0; i < kWidth; ++i) y[i] = x[i] * factor;
    });
    flops.backward = counted([&] {
      const auto dot = sum_over(kWidth, [&](size_t i) { return dy[i] * x[i]; });
      const auto along = g / (length * length * length) * dot;
      for (size_t i = 0; i < kWidth; ++i) dx[i] = dy[i] * factor - x[i] * along;
      dg = dg + dot / length;
    });
  }

  void dynamic_tanh() {
    Numbers x = some_numbers(kWidth), g = x, b = x, dy = x, t = x, y = x, dx = x, dg = x, db = x;
    Counted a{0.5}, da{0};
    flops.forward = counted([&] {
      for (size_t i = 0; i < kWidth; ++i) {
        t[i] = tangent(a * x[i]);
        y[i] = g[i] * t[i] + b[i];
      }
    });
    flops.backward = counted([&] {
      for (size_t i = 0; i < kWidth; ++i) {
        const auto u = g[i] * dy[i] * (Counted{1} - t[i] * t[i]);
        dx[i] = a * u;
        da = da + u * x[i];
        dg[i] = dg[i] + dy[i] * t[i];
        db[i] = db[i] + dy[i];
      }
    });
  }
};

void check_flops(const PassFlops& actual, const PassFlops& expected) {
  CHECK(actual.forward == expected.forward);
  CHECK(actual.backward == expected.backward);
}

PassFlops of_norm(const std::string& yaml) {
  return norm_flops(from_yaml<BlockConfig>("{norm: " + yaml + "}").norm, static_cast<double>(kWidth));
}

}  // namespace

TEST_CASE("Operations of norms are those of their formulas and derivatives, one by one", "[nn][flops][torch]") {
  NormByHand hand;
  hand.rms();
  check_flops(of_norm("{kind: rms_norm}"), hand.flops);
  check_flops(of_norm("{kind: rms_norm, gain: false}"),
              {hand.flops.forward - kWidth, hand.flops.backward - 4 * kWidth});  // g x; g dy, dy x s, +
  hand.layer();
  check_flops(of_norm("{kind: layer_norm}"), hand.flops);
  check_flops(of_norm("{kind: layer_norm, bias: false}"), {hand.flops.forward - kWidth, hand.flops.backward - kWidth});
  hand.scale();
  check_flops(of_norm("{kind: scale_norm}"), hand.flops);
  hand.dynamic_tanh();
  check_flops(of_norm("{kind: dynamic_tanh}"), hand.flops);
  check_flops(of_norm("{kind: none}"), {});
}

TEST_CASE("Operations of activations are those of their formulas and derivatives, one by one", "[nn][flops][torch]") {
  const Counted one{1}, half{0.5}, x{0.7}, dy{0.3}, c{0.797884560802865}, a{0.044715}, three_a{3 * 0.044715};
  const auto check = [](Activation f, const std::function<void()>& forward, const std::function<void()>& backward) {
    INFO(name_of(f));
    const double up = counted(forward);  // first, since the backward pass reads what it leaves
    check_flops(activation_flops(f), {up, counted(backward)});
  };
  Counted s{0}, y{0}, t{0}, square{0}, h{0};
  check(
      Activation::kIdentity, [] {}, [] {});
  check(
      Activation::kRelu, [&] { y = largest(x, Counted{0}); }, [&] { below_zero(x, Counted{0}, dy); });
  check(
      Activation::kReluSquared,
      [&] {
        y = largest(x, Counted{0});
        y* y;
      },
      [&] { Counted{2} * y* dy; });
  check(
      Activation::kSigmoid, [&] { s = one / (one + exponential(-x)); }, [&] { s*(one - s) * dy; });
  check(
      Activation::kSilu,
      [&] {
        s = one / (one + exponential(-x));
        y = x * s;
      },
      [&] { (s + y * (one - s)) * dy; });
  check(
      Activation::kGelu,
      [&] {
        h = half * (one + error(x * Counted{0.707106781186547}));
        y = x * h;
      },
      [&] { (h + x * (Counted{0.398942280401433} * exponential(Counted{-0.5} * (x * x)))) * dy; });
  check(
      Activation::kGeluTanh,
      [&] {
        square = x * x;
        t = tangent(c * (x + a * (square * x)));
        h = half * (one + t);
        y = x * h;
      },
      [&] { (h + half * x * (one - t * t) * (c * (one + three_a * square))) * dy; });
  check(
      Activation::kElu, [&] { y = below_zero(x, exponential(x) - one, x); }, [&] { below_zero(x, y + one, one) * dy; });
  check(
      Activation::kSelu, [&] { y = Counted{1.0507} * below_zero(x, Counted{1.6733} * (exponential(x) - one), x); },
      [&] { below_zero(x, y + Counted{1.7581}, Counted{1.0507}) * dy; });
  check_flops(gate_flops(Activation::kIdentity), {1, 2});
}

TEST_CASE("Operations of a small model outside products are those that were counted by hand", "[nn][flops][torch]") {
  const auto flops = element_flops(
      from_yaml<ModelConfig>("{vocabulary: 5, context: 3, width: 4, layers: 1, block: {attention: {heads: 2, kv_heads: "
                             "1}, ffn: {hidden: 6}}}"),
      3);
  check_flops(flops.norms, {3 * 3 * 20, 3 * 3 * 40});      // three norms of three rows of four: 4 n + 4, 9 n + 4
  check_flops(flops.scores, {2 * 9 * 6, 2 * 9 * 5});       // two heads, nine pairs
  check_flops(flops.activations, {3 * 6 * 5, 3 * 6 * 6});  // silu, times up
  check_flops(flops.positions, {3 * 3 * 6, 3 * 3 * 6});    // two query heads and a key head of two channels
  check_flops(flops.embedding, {0, 3 * 4});
  // Two residual sums; two readers of x twice, three maps that read one x, and two.
  check_flops(flops.sums, {3 * 8, 3 * (8 + 8 + 4)});
}

TEST_CASE("What a model has besides is counted where it stands", "[nn][flops][torch]") {
  const auto of = [](const std::string& more) {
    return element_flops(from_yaml<ModelConfig>("{vocabulary: 5, context: 3, width: 4, layers: 2, " + more + "}"), 3);
  };
  const auto plain = of("block: {attention: {heads: 2}}");
  const auto more = [](const PassFlops& with, const PassFlops& without) {
    return PassFlops{with.forward - without.forward, with.backward - without.backward};
  };
  const auto capped = of("block: {attention: {heads: 2, softcap: 9, dropout: 0.1}}");
  check_flops(more(capped.scores, plain.scores), {2 * 2 * 9 * 4, 2 * 2 * 9 * 4});
  const auto normed = of("block: {attention: {heads: 2, qk_norm: {kind: head}}}");
  check_flops(more(normed.norms, plain.norms), {2 * 3 * 4 * 12, 2 * 3 * 4 * 22});  // four heads of two channels
  const auto twice = of("block: {layout: {kind: double_norm}, attention: {heads: 2}}");
  check_flops(more(twice.norms, plain.norms), {2 * 3 * 2 * 20, 2 * 3 * 2 * 40});
  const auto alibi = of("block: {position: {kind: alibi}, attention: {heads: 2}}");
  check_flops(more(alibi.scores, plain.scores), {2 * 2 * 9, 0});
  check_flops(alibi.positions, {});
  const auto learned = of("block: {position: {kind: learned}, attention: {heads: 2}}");
  check_flops(learned.positions, {3 * 4, 3 * 4});
  const auto shared =
      of("overrides: [{layers: [1], block: {attention: {reuse_keys_values: true}}}], block: "
         "{attention: {heads: 2}}");
  check_flops(more(shared.positions, plain.positions), {-3 * 2 * 6, -3 * 2 * 6});
  check_flops(more(shared.sums, plain.sums), {0, 3 * (2 * 4 - 2 * 4)});
  const auto scaled =
      of("logit_scale: {kind: sqrt_width}, head_bias: true, block: {attention: {heads: 2, output_bias: "
         "true}, residual_scale: 0.5}");
  check_flops(more(scaled.sums, plain.sums), {3 * (10 + 2 * (4 + 8)), 3 * (10 + 2 * (4 + 8))});
  const auto inputs = of("layer_embedding_width: 2, block: {attention: {heads: 2}}");
  check_flops(more(inputs.activations, plain.activations), {3 * 2 * 2 * 5, 3 * 2 * 2 * 6});
  check_flops(more(inputs.norms, plain.norms), {3 * 2 * (20 + 12), 3 * 2 * (40 + 22)});  // of four and of two channels
  check_flops(more(inputs.sums, plain.sums), {3 * (2 * 4 + 4 * 4), 3 * (2 * 4 + 3 * 4 + 4)});
}

}  // namespace blockzoo
