// Products of many rows against loops in float64, without LibTorch, so that sanitizers see them. Buffers have no room
// to spare.
#include "kernels/rows/many_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/rows/instructions.h"
#include "kernels/rows/many_rows_pairs.h"
#include "support/catch.h"
#include "support/small_numbers.h"

namespace blockzoo::rows {
namespace {

/// Y, of which two calls compute a part each.
std::vector<float> product_of(const ManyRowsShape& shape, const std::vector<float>& x, const MatrixOf<float>& matrix,
                              const float* bias) {
  std::vector<float> packed(shape.packed_size()), y(shape.rows * shape.outputs);
  pack_matrix(shape, matrix, 0, shape.panels(), packed.data());
  const auto middle = shape.tiles() / 2;
  many_rows(shape, x.data(), packed.data(), bias, 0, middle, y.data());
  many_rows(shape, x.data(), packed.data(), bias, middle, shape.tiles(), y.data());
  return y;
}

std::vector<Bf16> product_of(const ManyRowsShape& shape, const std::vector<Bf16>& x, const MatrixOf<Bf16>& matrix,
                             const Bf16* bias) {
  const auto* pairs = many_rows_in_pairs();
  std::vector<Bf16Pair> packed(pairs->packed_size(shape));
  std::vector<Bf16> y(shape.rows * shape.outputs);
  pairs->pack_matrix(shape, matrix, 0, pairs->panels(shape), packed.data());
  const auto tiles = pairs->tiles(shape), middle = tiles / 2;
  pairs->many_rows(shape, x.data(), packed.data(), bias, 0, middle, y.data());
  pairs->many_rows(shape, x.data(), packed.data(), bias, middle, tiles, y.data());
  return y;
}

template <class T>
bool is_there() {
  return std::is_same_v<T, float> || many_rows_in_pairs() != nullptr;
}

/// The matrix by whose columns outputs lie side by side, or inputs.
template <class T>
MatrixOf<T> matrix_of(const ManyRowsShape& shape, const std::vector<T>& numbers, bool of_outputs) {
  if (of_outputs) return {.from = numbers.data(), .row = shape.outputs, .column = 1};
  return {.from = numbers.data(), .row = 1, .column = shape.inputs};
}

}  // namespace

TEMPLATE_TEST_CASE("Many rows times a matrix of any size, in any parts", "[kernels][rows]", float, Bf16) {
  if (!is_there<TestType>()) {
    CHECK_FALSE(multiplies_pairs());
    return;
  }
  const double rounding = std::is_same_v<TestType, float> ? 0 : 0x1p-8;
  for (const auto& [rows, inputs, outputs] : {std::array<size_t, 3>{1, 1, 1},
                                              {7, 2, 5},
                                              {13, 33, 47},
                                              {64, 48, 48},
                                              {77, 70, 131},
                                              {3, 3101, 17},
                                              {66, 8, 1}}) {
    for (const bool of_outputs : {false, true}) {
      for (const bool biased : {false, true}) {
        INFO(rows << " rows, " << inputs << " to " << outputs << ", " << of_outputs << biased);
        const ManyRowsShape shape{.rows = rows, .inputs = inputs, .outputs = outputs};
        const auto x = small_numbers<TestType>(rows * inputs, 1),
                   numbers = small_numbers<TestType>(inputs * outputs, 2), bias = small_numbers<TestType>(outputs, 3);
        const auto matrix = matrix_of(shape, numbers, of_outputs);
        const auto y = product_of(shape, x, matrix, biased ? bias.data() : nullptr);
        double worst = 0;
        for (size_t r = 0; r < rows; ++r) {
          for (size_t o = 0; o < outputs; ++o) {
            double sum = biased ? wide(bias[o]) : 0;
            for (size_t i = 0; i < inputs; ++i)
              sum += wide(x[r * inputs + i]) * wide(matrix.from[i * matrix.row + o * matrix.column]);
            worst = std::max(worst, std::abs(wide(y[r * outputs + o]) - sum) - rounding * std::abs(sum));
          }
        }
        CHECK(worst <= 0);
      }
    }
  }
}

TEMPLATE_TEST_CASE("A row gives the same alone and among many", "[kernels][rows]", float, Bf16) {
  if (!is_there<TestType>()) {
    CHECK_FALSE(multiplies_pairs());
    return;
  }
  constexpr size_t rows = 77, inputs = 1801, outputs = 61;
  auto x = small_numbers<TestType>(rows * inputs, 1), numbers = small_numbers<TestType>(inputs * outputs, 2);
  for (auto& number : x) put(wide(number) / 3, &number);
  for (const bool of_outputs : {false, true}) {
    const ManyRowsShape all{.rows = rows, .inputs = inputs, .outputs = outputs};
    const auto matrix = matrix_of(all, numbers, of_outputs);
    const auto together = product_of(all, x, matrix, nullptr);
    for (const size_t r : {0, 5, 12, 63, 64, 76}) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(r * inputs);
      const auto alone = product_of({.rows = 1, .inputs = inputs, .outputs = outputs},
                                    std::vector<TestType>(begin, begin + inputs), matrix, nullptr);
      for (size_t o = 0; o < outputs; ++o) CHECK(wide(alone[o]) == wide(together[r * outputs + o]));
    }
  }
}

TEMPLATE_TEST_CASE("NaN in a row of many stays there", "[kernels][rows]", float, Bf16) {
  if (!is_there<TestType>()) {
    CHECK_FALSE(multiplies_pairs());
    return;
  }
  const ManyRowsShape shape{.rows = 9, .inputs = 5, .outputs = 50};
  auto x = small_numbers<TestType>(9 * 5, 1);
  const auto numbers = small_numbers<TestType>(5 * 50, 2);
  put(std::numeric_limits<float>::quiet_NaN(), &x[3 * 5 + 4]);
  const auto y = product_of(shape, x, matrix_of(shape, numbers, true), nullptr);
  for (size_t i = 0; i < y.size(); ++i) CHECK(std::isnan(wide(y[i])) == (i / 50 == 3));
}

}  // namespace blockzoo::rows
