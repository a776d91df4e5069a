// A matrix in 8 bits against loops in float64, without LibTorch, so that sanitizers see it.
#include "kernels/rows/screen.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "support/catch.h"

namespace blockzoo::rows {
namespace {

/// Draws of a normal distribution, times `scale`.
template <class T>
std::vector<T> drawn(size_t count, double scale) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<T> numbers(count);
  for (auto& number : numbers) put(static_cast<float>(normal(random) * scale), &number);
  return numbers;
}

template <class T>
struct MadeScreen {
  ScreenShape shape;
  std::vector<T> w;
  std::vector<int8_t> numbers;
  std::vector<float> factors, errors;

  MadeScreen(const ScreenShape& of, double scale)
      : shape(of),
        w(drawn<T>(of.rows * of.inputs, scale)),
        numbers(of.rows * of.stride(), 1),
        factors(of.rows),
        errors(of.rows) {
    make();
  }
  void make() {
    const auto middle = shape.rows / 2;
    make_screen(shape, w.data(), 0, middle, numbers.data(), factors.data(), errors.data());
    make_screen(shape, w.data(), middle, shape.rows, numbers.data(), factors.data(), errors.data());
  }
  double weight(size_t v, size_t i) const { return wide(w[v * shape.inputs + i]); }
  double held(size_t v, size_t i) const { return static_cast<double>(factors[v]) * numbers[v * shape.stride() + i]; }
};

}  // namespace

TEMPLATE_TEST_CASE("A row in 8 bits is as far from its weights as its error says, and hardly nearer", "[kernels][rows]",
                   float, Bf16) {
  for (const double scale : {0.02, 1e-20, 1e-33}) {
    for (const size_t inputs : {1, 15, 64, 130}) {
      INFO(scale << ", " << inputs << " inputs");
      const MadeScreen<TestType> made({.rows = 7, .inputs = inputs}, scale);
      for (size_t v = 0; v < made.shape.rows; ++v) {
        double squares = 0;
        for (size_t i = 0; i < inputs; ++i) squares += std::pow(made.weight(v, i) - made.held(v, i), 2);
        const double apart = std::sqrt(squares);  // what a vector of length 1 along the difference sees
        CHECK(made.errors[v] >= apart);
        if (scale > 1e-9 && inputs > 15) CHECK(made.errors[v] < 1.1 * apart);
        for (size_t i = inputs; i < made.shape.stride(); ++i) CHECK(made.numbers[v * made.shape.stride() + i] == 0);
      }
    }
  }
}

TEMPLATE_TEST_CASE("Estimates are the numbers' products, and their least bound is within them", "[kernels][rows]",
                   float, Bf16) {
  for (const size_t rows : {1, 4, 11}) {
    for (const size_t inputs : {3, 64, 100}) {
      MadeScreen<TestType> made({.rows = rows, .inputs = inputs}, 0.3);
      const auto bias = drawn<float>(rows, 2);
      auto x = drawn<float>(made.shape.stride(), 1);
      std::fill(x.begin() + static_cast<ptrdiff_t>(inputs), x.end(), 0.0F);
      double squares = 0;
      for (const auto value : x) squares += value * value;
      const auto norm = static_cast<float>(std::sqrt(squares));
      std::vector<float> estimates(rows);
      const Screen screen{made.numbers.data(), made.factors.data(), made.errors.data(), bias.data()};
      const auto middle = rows / 2;
      const auto least = std::max(estimate(made.shape, screen, x.data(), norm, 0, middle, estimates.data()),
                                  estimate(made.shape, screen, x.data(), norm, middle, rows, estimates.data()));
      double expected = -INFINITY;
      for (size_t v = 0; v < rows; ++v) {
        double held = bias[v], exact = bias[v];
        for (size_t i = 0; i < inputs; ++i) {
          held += made.held(v, i) * x[i];
          exact += made.weight(v, i) * x[i];
        }
        CHECK(estimates[v] == Approx(held).epsilon(1e-5).margin(1e-5));
        CHECK(std::abs(estimates[v] - exact) <= made.errors[v] * norm);
        expected = std::max(expected, held - static_cast<double>(made.errors[v]) * norm);
      }
      CHECK(least == Approx(expected).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEMPLATE_TEST_CASE("A row that is not finite has no bound, and one of zeros no error", "[kernels][rows]", float, Bf16) {
  MadeScreen<TestType> made({.rows = 4, .inputs = 20}, 1);
  put(NAN, &made.w[19]);
  put(-INFINITY, &made.w[25]);
  for (size_t i = 40; i < 60; ++i) put(0, &made.w[i]);
  made.make();
  CHECK(std::isinf(made.errors[0]));
  CHECK(std::isinf(made.errors[1]));
  CHECK(made.errors[2] == 0);
  CHECK(made.errors[3] > 0);
  for (size_t v = 0; v < 3; ++v) CHECK(made.factors[v] == 0);
}

}  // namespace blockzoo::rows
