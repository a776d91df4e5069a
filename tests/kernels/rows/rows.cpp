// Row kernels against loops in float64, without LibTorch, so that sanitizers see them. Buffers have no room to spare.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "blockzoo/core/hash.h"
#include "kernels/rows/activation.h"
#include "kernels/rows/attention.h"
#include "kernels/rows/attention_pairs.h"
#include "kernels/rows/cross_entropy.h"
#include "kernels/rows/instructions.h"
#include "kernels/rows/rms_norm.h"
#include "kernels/rows/rotary.h"
#include "kernels/rows/square_sum.h"
#include "kernels/rows/weight_gradient.h"
#include "kernels/rows/weight_gradient_pairs.h"
#include "support/catch.h"

using Catch::Matchers::ContainsSubstring;

namespace blockzoo::rows {
namespace {

using Row = std::vector<float>;

/// Numbers in [-1, 1) by index.
Row numbers(size_t count, uint64_t seed) {
  Row row;
  for (size_t i = 0; i < count; ++i)
    row.push_back(static_cast<float>(static_cast<double>(mix(1000 * seed + i) >> 11) * 0x1p-52 - 1));
  return row;
}

std::vector<Bf16> halves(const Row& row) {
  std::vector<Bf16> result;
  for (const float x : row) {
    uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    result.push_back({static_cast<uint16_t>(bits >> 16)});
  }
  return result;
}

template <class T>
std::vector<T> as(const Row& row) {
  if constexpr (std::is_same_v<T, float>) {
    return row;
  } else {
    return halves(row);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Rows of any width are normalised", "[kernels][rows]", float, Bf16) {
  for (const size_t width : {1, 2, 7, 16, 17, 40}) {
    const auto x = as<TestType>(numbers(3 * width, 1)), dy = as<TestType>(numbers(3 * width, 2));
    const auto gain = numbers(width, 3);
    std::vector<TestType> y(3 * width), dx(3 * width);
    Row inverse(3), dgain(width, 0.0F);
    const NormShape shape{.rows = 3, .width = width, .gain_rows = 1, .eps = 1e-3F};
    rms_norm(shape, x.data(), gain.data(), y.data(), inverse.data());
    rms_norm_backward(shape, x.data(), gain.data(), inverse.data(), dy.data(), dx.data(), dgain.data());
    std::vector<double> expected_dgain(width);
    for (size_t row = 0; row < 3; ++row) {
      double squares = 0, along = 0;
      const auto at = [&](size_t i) { return row * width + i; };
      for (size_t i = 0; i < width; ++i) squares += wide(x[at(i)]) * wide(x[at(i)]);
      const double s = 1 / std::sqrt(squares / static_cast<double>(width) + 1e-3);
      for (size_t i = 0; i < width; ++i) along += wide(x[at(i)]) * wide(dy[at(i)]) * gain[i];
      for (size_t i = 0; i < width; ++i) {
        CHECK(wide(y[at(i)]) == Approx(wide(x[at(i)]) * s * gain[i]).epsilon(4e-3).margin(1e-6));
        const double slope = s * gain[i] * wide(dy[at(i)]) - wide(x[at(i)]) * s * s * s * along / double(width);
        CHECK(wide(dx[at(i)]) == Approx(slope).epsilon(4e-3).margin(1e-4));
        expected_dgain[i] += wide(dy[at(i)]) * wide(x[at(i)]) * s;
      }
    }
    for (size_t i = 0; i < width; ++i) CHECK(dgain[i] == Approx(expected_dgain[i]).epsilon(1e-5).margin(1e-6));
  }
}

TEMPLATE_TEST_CASE("Gates of any length", "[kernels][rows]", float, Bf16) {
  for (const size_t count : {1, 5, 16, 33}) {
    const auto gate = as<TestType>(numbers(count, 1)), up = as<TestType>(numbers(count, 2)),
               dy = as<TestType>(numbers(count, 3));
    std::vector<TestType> y(count), dgate(count), dup(count);
    activate(Activation::kSilu, count, gate.data(), up.data(), y.data());
    activate_backward(Activation::kSilu, count, gate.data(), up.data(), dy.data(), dgate.data(), dup.data());
    for (size_t i = 0; i < count; ++i) {
      const double x = wide(gate[i]), s = 1 / (1 + std::exp(-x));
      CHECK(wide(y[i]) == Approx(x * s * wide(up[i])).epsilon(4e-3).margin(1e-7));
      CHECK(wide(dup[i]) == Approx(x * s * wide(dy[i])).epsilon(4e-3).margin(1e-7));
      CHECK(wide(dgate[i]) == Approx((s + x * s * (1 - s)) * wide(up[i]) * wide(dy[i])).epsilon(4e-3).margin(1e-7));
    }
  }
}

TEMPLATE_TEST_CASE("Losses of any vocabulary", "[kernels][rows]", float, Bf16) {
  for (const size_t vocabulary : {1, 3, 16, 37}) {
    const auto logits = as<TestType>(numbers(2 * vocabulary, 1));
    const std::vector<int64_t> targets{static_cast<int64_t>(vocabulary) - 1, -1};
    Row losses(2), log_z(2);
    const Row dlosses{0.5F, 0.5F}, dlog_z{0.25F, 0.25F};
    std::vector<TestType> dlogits(2 * vocabulary);
    cross_entropy(2, vocabulary, logits.data(), targets.data(), losses.data(), log_z.data());
    cross_entropy_backward(2, vocabulary, logits.data(), targets.data(), log_z.data(), dlosses.data(), dlog_z.data(),
                           dlogits.data());
    for (size_t row = 0; row < 2; ++row) {
      double total = 0;
      const auto at = [&](size_t i) { return row * vocabulary + i; };
      for (size_t i = 0; i < vocabulary; ++i) total += std::exp(wide(logits[at(i)]));
      CHECK(log_z[row] == Approx(std::log(total)).margin(1e-6));
      const double target = row == 0 ? wide(logits[vocabulary - 1]) : std::log(total);
      CHECK(losses[row] == Approx(std::log(total) - target).margin(1e-6));
      for (size_t i = 0; i < vocabulary; ++i) {
        const double p = std::exp(wide(logits[at(i)])) / total;
        const double hit = row == 0 && i == vocabulary - 1 ? 0.5 : 0;
        CHECK(wide(dlogits[at(i)]) == Approx((row == 0 ? 0.75 : 0.25) * p - hit).epsilon(4e-3).margin(1e-6));
      }
    }
  }
}

TEMPLATE_TEST_CASE("Turning back undoes a turn", "[kernels][rows]", float, Bf16) {
  for (const auto pairs : {Pairs::kHalf, Pairs::kInterleaved}) {
    for (const size_t channels : {2, 10, 32, 34}) {
      const size_t width = channels + 3;
      const auto x = as<TestType>(numbers(2 * 3 * width, 1));
      Row cosine, sine;
      for (const float angle : numbers(3 * channels / 2, 2)) {
        cosine.push_back(std::cos(angle));
        sine.push_back(std::sin(angle));
      }
      const RotaryShape shape{
          .sequences = 1, .length = 3, .heads = 2, .width = width, .channels = channels, .pairs = pairs};
      std::vector<TestType> y(x.size()), back(x.size());
      rotate(shape, 0, 3, 1, x.data(), cosine.data(), sine.data(), y.data());
      rotate(shape, 0, 3, -1, y.data(), cosine.data(), sine.data(), back.data());
      const size_t second = pairs == Pairs::kHalf ? channels / 2 : 1;
      CHECK(wide(y[0]) == Approx(wide(x[0]) * cosine[0] - wide(x[second]) * sine[0]).epsilon(4e-3).margin(1e-6));
      for (size_t i = 0; i < x.size(); ++i) CHECK(wide(back[i]) == Approx(wide(x[i])).margin(2e-2));
    }
  }
}

TEST_CASE("Attention in tiles equals its definition at the edges of tiles", "[kernels][rows]") {
  for (const auto& [queries, keys] : {std::pair<size_t, size_t>{1, 1}, {3, 66}, {64, 64}, {65, 130}}) {
    for (const size_t window : {0, 5, 64}) {
      AttentionShape shape{.batch = 1,
                           .queries = queries,
                           .keys = keys,
                           .heads = 2,
                           .key_heads = 1,
                           .width = kStep,
                           .value_width = kStep,
                           .window = window,
                           .scale = 0.5F};
      const auto q = numbers(queries * 2 * kStep, 1), k = numbers(keys * kStep, 2), v = numbers(keys * kStep, 3);
      Row keys_across(shape.key_tiles() * kStep * kTile);
      const AttentionInputs<float> inputs{q.data(), k.data(), v.data()};
      Row y(queries * 2 * kStep), log_z(2 * queries), dq(y.size()), dk(keys * 2 * kStep), dv(dk.size());
      take_keys_across(shape, k.data(), 0, shape.key_tiles(), keys_across.data());
      attend(shape, inputs, keys_across.data(), 0, 2 * shape.query_tiles(), y.data(), log_z.data());
      const auto dy = numbers(y.size(), 4);
      attend_backward(shape, inputs,
                      AttentionGradients<float>{y.data(), dy.data(), log_z.data(), dq.data(), dk.data(), dv.data()}, 0,
                      2);
      for (size_t t = 0; t < queries; ++t) {
        const auto position = keys - queries + t;
        const auto first = window == 0 || position < window ? 0 : position + 1 - window;
        double total = 0;
        std::vector<double> mixed(kStep);
        for (size_t j = first; j <= position; ++j) {
          double score = 0;
          for (size_t i = 0; i < kStep; ++i) score += 0.5 * q[2 * t * kStep + i] * k[j * kStep + i];
          total += std::exp(score);
          for (size_t i = 0; i < kStep; ++i) mixed[i] += std::exp(score) * v[j * kStep + i];
        }
        CHECK(log_z[t] == Approx(std::log(total)).epsilon(1e-5).margin(1e-6));
        for (size_t i = 0; i < kStep; ++i)
          CHECK(y[2 * t * kStep + i] == Approx(mixed[i] / total).epsilon(1e-5).margin(1e-6));
      }
    }
  }
}

TEST_CASE("Attention in pairs equals that in float32 at the edges of tiles, with its gradients", "[kernels][rows]") {
  const auto* pairs = attention_in_pairs();
  CHECK((pairs != nullptr) == multiplies_pairs());
  if (pairs == nullptr) return;  // this processor has no such products
  for (const auto& [queries, keys] : {std::pair<size_t, size_t>{1, 1}, {3, 66}, {64, 64}, {65, 131}}) {
    for (const size_t window : {0, 5, 64}) {
      for (const size_t key_heads : {1, 2}) {
        for (const float softcap : {0.0F, 1.5F}) {
          INFO(queries << " queries, " << keys << " keys, window " << window << ", " << key_heads << " key heads, cap "
                       << softcap);
          AttentionShape shape{.batch = 1,
                               .queries = queries,
                               .keys = keys,
                               .heads = 2,
                               .key_heads = key_heads,
                               .width = 2 * kStep,
                               .value_width = kStep,
                               .window = window,
                               .scale = 0.3F,
                               .softcap = softcap};
          shape.dropout = 0.1F;
          const auto q = halves(numbers(queries * 4 * kStep, 1)), k = halves(numbers(keys * key_heads * 2 * kStep, 2)),
                     v = halves(numbers(keys * key_heads * kStep, 3)), dy = halves(numbers(queries * 2 * kStep, 4));
          const AttentionInputs<Bf16> inputs{q.data(), k.data(), v.data()};
          Row keys_across(key_heads * shape.key_tiles() * 2 * kStep * kTile);
          std::vector<Bf16Pair> pairs_across(keys_across.size() / 2);
          const auto tasks = 2 * shape.query_tiles();
          std::vector<Bf16> y(dy.size()), y_pairs(dy.size()), dq(q.size()), dq_pairs(q.size());
          Row log_z(2 * queries), log_z_pairs(log_z), dk(keys * 4 * kStep), dv(keys * 2 * kStep), dk_pairs(dk),
              dv_pairs(dv);
          take_keys_across(shape, k.data(), 0, key_heads * shape.key_tiles(), keys_across.data());
          attend(shape, inputs, keys_across.data(), 0, tasks, y.data(), log_z.data());
          attend_backward(shape, inputs,
                          AttentionGradients<Bf16>{y.data(), dy.data(), log_z.data(), dq.data(), dk.data(), dv.data()},
                          0, 2);
          pairs->take_keys_across(shape, k.data(), 0, key_heads * shape.key_tiles(), pairs_across.data());
          pairs->attend(shape, inputs, pairs_across.data(), 0, tasks, y_pairs.data(), log_z_pairs.data());
          pairs->attend_backward(shape, inputs,
                                 AttentionGradients<Bf16>{y.data(), dy.data(), log_z.data(), dq_pairs.data(),
                                                          dk_pairs.data(), dv_pairs.data()},
                                 0, 2);
          std::vector<Bf16> dk_rounded(dk.size()), dv_rounded(dv.size());
          pairs->attend_backward_rounded(
              shape, inputs,
              AttentionGradients<Bf16, Bf16>{y.data(), dy.data(), log_z.data(), dq_pairs.data(), dk_rounded.data(),
                                             dv_rounded.data()},
              0, 2);
          const auto check = [](const char* name, const auto& actual, const auto& expected, float margin) {
            INFO(name);
            float most = 0;
            for (const auto x : expected) most = std::max(most, std::abs(wide(x)));
            for (size_t i = 0; i < expected.size(); ++i)
              REQUIRE(wide(actual[i]) == Approx(wide(expected[i])).epsilon(0).margin(margin * std::max(most, 1.0F)));
          };
          check("y", y_pairs, y, 0x1p-7F);
          check("log Z", log_z_pairs, log_z, 1e-5F);
          check("dq", dq_pairs, dq, 0x1p-7F);
          check("dk", dk_pairs, dk, 0x1p-8F);
          check("dv", dv_pairs, dv, 0x1p-8F);
          check("rounded dk", dk_rounded, dk_pairs, 0x1p-8F);
          check("rounded dv", dv_rounded, dv_pairs, 0x1p-8F);
        }
      }
    }
  }
}

TEST_CASE("Weight gradients of any size, in any parts", "[kernels][rows]") {
  for (const size_t rows : {1, 5, 257}) {
    for (const auto& [outputs, inputs] : {std::pair<size_t, size_t>{1, 1}, {13, 33}, {250, 3}, {3, 1030}}) {
      const WeightGradientShape shape{.rows = rows, .outputs = outputs, .inputs = inputs};
      const auto dy = numbers(rows * outputs, 1), x = numbers(rows * inputs, 2);
      Row packed(shape.packed_size()), dw(outputs * inputs);
      pack_inputs(shape, x.data(), 0, shape.packing_tasks(), packed.data());
      const auto middle = shape.strips() / 2;
      weight_gradient(shape, dy.data(), packed.data(), 0, middle, dw.data());
      weight_gradient(shape, dy.data(), packed.data(), middle, shape.strips(), dw.data());
      for (size_t o = 0; o < outputs; ++o) {
        for (size_t i = 0; i < inputs; ++i) {
          double sum = 0;
          for (size_t r = 0; r < rows; ++r) sum += static_cast<double>(dy[r * outputs + o]) * x[r * inputs + i];
          CHECK(dw[o * inputs + i] == Approx(sum).epsilon(1e-5).margin(2e-5));
        }
      }
    }
  }
}

TEST_CASE("Weight gradients in pairs of any size, in any parts", "[kernels][rows]") {
  const auto* pairs = weight_gradient_in_pairs();
  CHECK((pairs != nullptr) == multiplies_pairs());
  if (pairs == nullptr) return;  // this processor has no such products
  for (const size_t rows : {1, 5, 515}) {
    for (const auto& [outputs, inputs] : {std::pair<size_t, size_t>{1, 1}, {13, 33}, {300, 3}, {3, 1030}, {30, 64}}) {
      const WeightGradientShape shape{.rows = rows, .outputs = outputs, .inputs = inputs};
      const auto dy = halves(numbers(rows * outputs, 1)), x = halves(numbers(rows * inputs, 2));
      std::vector<Bf16Pair> packed(pairs->packed_size(shape));
      Row dw(outputs * inputs);
      pairs->pack_inputs(shape, x.data(), 0, pairs->packing_tasks(shape), packed.data());
      const auto tasks = pairs->tasks(shape), middle = tasks / 2;
      pairs->weight_gradient(shape, dy.data(), packed.data(), 0, middle, dw.data());
      pairs->weight_gradient(shape, dy.data(), packed.data(), middle, tasks, dw.data());
      for (size_t o = 0; o < outputs; ++o) {
        for (size_t i = 0; i < inputs; ++i) {
          double sum = 0;
          for (size_t r = 0; r < rows; ++r)
            sum += static_cast<double>(wide(dy[r * outputs + o])) * wide(x[r * inputs + i]);
          CHECK(dw[o * inputs + i] == Approx(sum).epsilon(1e-5).margin(2e-5));
        }
      }
    }
  }
}

TEST_CASE("Squares of any number of numbers add up in float64", "[kernels][rows]") {
  for (const size_t count : {0, 1, 7, 8, 33, 1000}) {
    const auto x = numbers(count, 1);
    double sum = 0;
    for (const double v : x) sum += v * v;
    CHECK(square_sum(x.data(), count) == Approx(sum).epsilon(1e-13));
  }
}

TEST_CASE("The instruction set has a name, and LibTorch's limit holds for it", "[kernels][rows]") {
  const std::string used = instructions();
  CHECK_FALSE(used.empty());
  const char* const given = std::getenv("ATEN_CPU_CAPABILITY");
  const std::string limit = given != nullptr ? given : "";
  if (limit != "avx2" && limit != "default") return;
  CHECK_THAT(used, !ContainsSubstring("AVX3"));
  CHECK_FALSE(multiplies_pairs());
  if (limit == "default") CHECK_THAT(used, !ContainsSubstring("AVX"));
}

}  // namespace blockzoo::rows
