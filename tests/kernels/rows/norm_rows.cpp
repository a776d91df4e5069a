// Norms and the soft cap over rows against loops in float64, without LibTorch, so that sanitizers see them. Buffers
// have no room to spare.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/rows/dynamic_tanh.h"
#include "kernels/rows/layer_norm.h"
#include "kernels/rows/rms_norm.h"
#include "kernels/rows/scale_norm.h"
#include "kernels/rows/soft_cap.h"
#include "support/catch.h"

namespace blockzoo::rows {
namespace {

/// Numbers in [-1, 1) that bfloat16 holds too.
template <class T>
std::vector<T> held_numbers(size_t count, size_t seed) {
  std::vector<T> numbers(count);
  for (size_t i = 0; i < count; ++i)
    put(static_cast<float>((i * 29 + seed * 17 + i * i % 7) % 64) / 32 - 1, &numbers[i]);
  return numbers;
}

constexpr size_t kRows = 3;

/// 3 rows of x and of the gradient of y, and room for results.
template <class T>
struct NormRows {
  explicit NormRows(size_t width)
      : width(width),
        shape{.rows = kRows, .width = width, .gain_rows = 1, .eps = 1e-3F},
        x(held_numbers<T>(kRows * width, 1)),
        dy(held_numbers<T>(kRows * width, 2)),
        gain(held_numbers<float>(width, 3)),
        bias(held_numbers<float>(width, 4)),
        y(kRows * width),
        dx(kRows * width),
        dgain(width),
        dbias(width) {}

  double x_at(size_t row, size_t i) const { return wide(x[row * width + i]); }
  double dy_at(size_t row, size_t i) const { return wide(dy[row * width + i]); }
  void check(size_t row, size_t i, double expected_y, double expected_dx) const {
    CHECK(wide(y[row * width + i]) == Approx(expected_y).epsilon(4e-3).margin(1e-5));
    CHECK(wide(dx[row * width + i]) == Approx(expected_dx).epsilon(4e-3).margin(2e-4));
  }

  size_t width;
  NormShape shape;
  std::vector<T> x, dy;
  std::vector<float> gain, bias;
  std::vector<T> y, dx;
  std::vector<float> dgain, dbias;
};

constexpr size_t kRowWidths[] = {1, 2, 7, 16, 17, 40};

}  // namespace

TEMPLATE_TEST_CASE("Rows of any width are centred and scaled", "[kernels][rows]", float, Bf16) {
  for (const size_t width : kRowWidths) {
    NormRows<TestType> rows(width);
    std::vector<float> mean(kRows), inverse(kRows);
    layer_norm(rows.shape, rows.x.data(), rows.gain.data(), rows.bias.data(), rows.y.data(), mean.data(),
               inverse.data());
    layer_norm_backward(rows.shape, rows.x.data(), rows.gain.data(), mean.data(), inverse.data(), rows.dy.data(),
                        rows.dx.data(), rows.dgain.data(), rows.dbias.data());
    std::vector<double> dgain(width), dbias(width);
    const auto n = static_cast<double>(width);
    for (size_t row = 0; row < kRows; ++row) {
      double m = 0, squares = 0, slopes = 0, along = 0;
      for (size_t i = 0; i < width; ++i) m += rows.x_at(row, i) / n;
      for (size_t i = 0; i < width; ++i) squares += std::pow(rows.x_at(row, i) - m, 2);
      const double s = 1 / std::sqrt(squares / n + 1e-3);
      const auto z = [&](size_t i) { return (rows.x_at(row, i) - m) * s; };
      for (size_t i = 0; i < width; ++i) {
        slopes += rows.gain[i] * rows.dy_at(row, i) / n;
        along += rows.gain[i] * rows.dy_at(row, i) * z(i) / n;
        dgain[i] += rows.dy_at(row, i) * z(i);
        dbias[i] += rows.dy_at(row, i);
      }
      for (size_t i = 0; i < width; ++i)
        rows.check(row, i, rows.gain[i] * z(i) + rows.bias[i],
                   s * (rows.gain[i] * rows.dy_at(row, i) - slopes - z(i) * along));
    }
    for (size_t i = 0; i < width; ++i) {
      CHECK(rows.dgain[i] == Approx(dgain[i]).epsilon(1e-4).margin(1e-5));
      CHECK(rows.dbias[i] == Approx(dbias[i]).epsilon(1e-4).margin(1e-5));
    }
  }
}

TEMPLATE_TEST_CASE("Norms give the same where no backward wants their statistics", "[kernels][rows]", float, Bf16) {
  for (const size_t width : kRowWidths) {
    NormRows<TestType> rows(width);
    std::vector<float> mean(kRows), inverse(kRows);
    const auto same = [&](const auto& with, const auto& without) {
      with();
      const auto expected = rows.y;
      std::fill(rows.y.begin(), rows.y.end(), TestType{});
      without();
      CHECK(std::memcmp(rows.y.data(), expected.data(), expected.size() * sizeof(TestType)) == 0);
    };
    const auto* const x = rows.x.data();
    const float *const gain = rows.gain.data(), *const bias = rows.bias.data();
    same([&] { layer_norm(rows.shape, x, gain, bias, rows.y.data(), mean.data(), inverse.data()); },
         [&] { layer_norm(rows.shape, x, gain, bias, rows.y.data(), nullptr, nullptr); });
    same([&] { rms_norm(rows.shape, x, gain, rows.y.data(), inverse.data()); },
         [&] { rms_norm(rows.shape, x, gain, rows.y.data(), nullptr); });
  }
}

TEMPLATE_TEST_CASE("Rows of any width are brought to one length", "[kernels][rows]", float, Bf16) {
  for (const size_t width : kRowWidths) {
    NormRows<TestType> rows(width);
    for (size_t i = 0; i < width; ++i) put(0, &rows.x[i]);  // the first row is shorter than eps
    const float gain = 1.5F;
    float dgain = 0;
    scale_norm(rows.shape, rows.x.data(), &gain, rows.y.data());
    scale_norm_backward(rows.shape, rows.x.data(), &gain, rows.dy.data(), rows.dx.data(), &dgain);
    double expected_dgain = 0;
    for (size_t row = 0; row < kRows; ++row) {
      double squares = 0, dot = 0;
      for (size_t i = 0; i < width; ++i) {
        squares += std::pow(rows.x_at(row, i), 2);
        dot += rows.x_at(row, i) * rows.dy_at(row, i);
      }
      const double l = std::max(std::sqrt(squares), 1e-3), along = row == 0 ? 0 : gain * dot / (l * l * l);
      expected_dgain += dot / l;
      for (size_t i = 0; i < width; ++i)
        rows.check(row, i, gain * rows.x_at(row, i) / l, gain * rows.dy_at(row, i) / l - rows.x_at(row, i) * along);
    }
    CHECK(dgain == Approx(expected_dgain).epsilon(1e-4).margin(1e-5));
  }
}

TEMPLATE_TEST_CASE("Rows of any width go through tanh", "[kernels][rows]", float, Bf16) {
  for (const size_t width : kRowWidths) {
    NormRows<TestType> rows(width);
    const float alpha = 1.5F;
    float dalpha = 0;
    dynamic_tanh(rows.shape, rows.x.data(), &alpha, rows.gain.data(), rows.bias.data(), rows.y.data());
    dynamic_tanh_backward(rows.shape, rows.x.data(), &alpha, rows.gain.data(), rows.dy.data(), rows.dx.data(), &dalpha,
                          rows.dgain.data(), rows.dbias.data());
    double expected_dalpha = 0;
    std::vector<double> dgain(width), dbias(width);
    for (size_t row = 0; row < kRows; ++row) {
      for (size_t i = 0; i < width; ++i) {
        const double t = std::tanh(alpha * rows.x_at(row, i));
        const double u = rows.gain[i] * rows.dy_at(row, i) * (1 - t * t);
        expected_dalpha += u * rows.x_at(row, i);
        dgain[i] += rows.dy_at(row, i) * t;
        dbias[i] += rows.dy_at(row, i);
        rows.check(row, i, rows.gain[i] * t + rows.bias[i], alpha * u);
      }
    }
    CHECK(dalpha == Approx(expected_dalpha).epsilon(1e-4).margin(1e-5));
    for (size_t i = 0; i < width; ++i) {
      CHECK(rows.dgain[i] == Approx(dgain[i]).epsilon(1e-4).margin(1e-5));
      CHECK(rows.dbias[i] == Approx(dbias[i]).epsilon(1e-4).margin(1e-5));
    }
  }
}

TEMPLATE_TEST_CASE("Numbers of any count are capped", "[kernels][rows]", float, Bf16) {
  for (const size_t count : kRowWidths) {
    const auto x = held_numbers<TestType>(count, 1), dy = held_numbers<TestType>(count, 2);
    std::vector<TestType> y(count), dx(count);
    soft_cap(count, 0.5F, x.data(), y.data());
    soft_cap_backward(count, 0.5F, y.data(), dy.data(), dx.data());
    for (size_t i = 0; i < count; ++i) {
      const double t = std::tanh(wide(x[i]) / 0.5);
      CHECK(wide(y[i]) == Approx(0.5 * t).epsilon(4e-3).margin(1e-6));
      CHECK(wide(dx[i]) == Approx((1 - t * t) * wide(dy[i])).epsilon(4e-3).margin(8e-3));
    }
  }
}

}  // namespace blockzoo::rows
