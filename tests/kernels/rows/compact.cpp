// A matrix in 12 bits a number gives, to the bit, what the matrix itself gives; without LibTorch, so that sanitizers
// see it.
#include "kernels/rows/compact.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/rows/few_rows.h"
#include "kernels/rows/instructions.h"
#include "support/catch.h"

namespace blockzoo::rows {
namespace {

/// Draws of a normal distribution that are bfloat16 numbers, none of them near zero.
template <class T>
std::vector<T> drawn_bfloat16(size_t count, uint32_t seed = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.02F);
  std::vector<T> numbers(count);
  for (auto& number : numbers) {
    Bf16 rounded{};
    do put(normal(random), &rounded);
    while (std::abs(wide(rounded)) < 1e-4F);
    put(wide(rounded), &number);
  }
  return numbers;
}

template <class T>
struct MadeCompact {
  CompactShape shape;
  std::vector<uint8_t> largest;
  std::vector<uint64_t> begins;
  std::vector<uint8_t> memory;

  MadeCompact(const CompactShape& of, const std::vector<T>& w)
      : shape(of), largest(of.outputs), begins(of.outputs + 1) {
    const auto middle = shape.outputs / 2;
    plan_compact(shape, w.data(), 0, middle, largest.data(), begins.data() + 1);
    plan_compact(shape, w.data(), middle, shape.outputs, largest.data(), begins.data() + 1);
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    memory.resize(begins.back());
    make_compact(shape, w.data(), 0, middle, compact());
    make_compact(shape, w.data(), middle, shape.outputs, compact());
  }
  Compact compact(bool near = false) { return {largest.data(), begins.data(), memory.data(), near}; }
  size_t plain_rows() const { return static_cast<size_t>(std::count(largest.begin(), largest.end(), kPlainRow)); }
};

template <class T>
void check_same_bits(const CompactShape& shape, const std::vector<T>& w, size_t plain_rows) {
  MadeCompact<T> made(shape, w);
  CHECK(made.plain_rows() == plain_rows);
  const auto x = drawn_bfloat16<T>(shape.inputs, 5), bias = drawn_bfloat16<T>(shape.outputs, 7);
  const FewRowsShape few{.rows = 1, .inputs = shape.inputs, .outputs = shape.outputs};
  for (const T* own_bias : {static_cast<const T*>(nullptr), bias.data()}) {
    std::vector<T> expected(shape.outputs), actual(shape.outputs);
    few_rows(few, x.data(), w.data(), own_bias, 0, shape.outputs, expected.data());
    const auto part = std::min<size_t>(3, shape.outputs);
    for (const bool near : {false, true}) {
      compact_row(shape, made.compact(near), x.data(), own_bias, 0, part, actual.data());
      compact_row(shape, made.compact(near), x.data(), own_bias, part, shape.outputs, actual.data());
      CHECK(std::memcmp(expected.data(), actual.data(), shape.outputs * sizeof(T)) == 0);
      std::fill(actual.begin(), actual.end(), T{});
    }
  }
}

/// AVX2 and AVX-512 have compact rows; elsewhere there is nothing to try.
bool can_compact() {
  CHECK(compacts() == (std::string_view(instructions()).substr(0, 3) == "AVX"));
  if (!compacts()) WARN("no compact rows by the instructions of this processor: not tried");
  return compacts();
}

constexpr size_t kWholeBlocks = 192;  // inputs that fill blocks of every instruction set

}  // namespace

TEMPLATE_TEST_CASE("Compact rows give the same to the bit, whatever their length", "[kernels][rows]", float, Bf16) {
  if (!can_compact()) return;
  for (const size_t inputs : {64, 65, 80, 127, 128, 200, 512}) {
    for (const size_t outputs : {1, 3, 4, 7, 9}) {
      INFO(inputs << " inputs, " << outputs << " outputs");
      check_same_bits<TestType>({outputs, inputs}, drawn_bfloat16<TestType>(outputs * inputs), 0);
    }
  }
  check_same_bits<TestType>({5, 7}, drawn_bfloat16<TestType>(5 * 7), 5);
}

TEMPLATE_TEST_CASE("Rows whose numbers are too far apart, or none, stay as they are", "[kernels][rows]", float, Bf16) {
  if (!can_compact()) return;
  const CompactShape shape{.outputs = 11, .inputs = kWholeBlocks};
  const float infinity = std::numeric_limits<float>::infinity();
  // A row drawn has upper bytes from 0x38, of 1e-4, to 0x3d, of 0.1.
  for (const float strange : {0.0F, -0.0F, 1e-6F, 1e-30F, -1e-40F, 40.0F, -1e4F, infinity, -infinity, std::nanf("")}) {
    for (const size_t place : {size_t{0}, size_t{77}, shape.inputs - 1}) {
      INFO(strange << " at " << place);
      auto w = drawn_bfloat16<TestType>(shape.outputs * shape.inputs);
      Bf16 rounded{};
      put(strange, &rounded);
      for (const size_t row : {1, 2, 10}) put(wide(rounded), &w[row * shape.inputs + place]);
      check_same_bits(shape, w, 3);
    }
  }
}

TEMPLATE_TEST_CASE("A row may hold numbers whose upper bytes are seven apart, and no more", "[kernels][rows]", float,
                   Bf16) {
  if (!can_compact()) return;
  const CompactShape shape{.outputs = 4, .inputs = kWholeBlocks};
  for (const auto& [least, plain] : {std::pair{0x1p-15F, size_t{0}}, {0x1p-16F, size_t{1}}}) {
    std::vector<TestType> w(shape.outputs * shape.inputs);
    for (size_t i = 0; i < w.size(); ++i) put(i % 2 == 0 ? 1.75F : -1.5F, &w[i]);  // upper byte 0x3f
    put(-least, &w[shape.inputs + 5]);                                             // 0x38 or 0x37
    check_same_bits(shape, w, plain);
  }
}

TEST_CASE("Float32 numbers that are no bfloat16 keep a row as it is, wherever they stand", "[kernels][rows]") {
  if (!can_compact()) return;
  const CompactShape shape{.outputs = 6, .inputs = kWholeBlocks};
  for (const size_t place : {size_t{0}, size_t{63}, shape.inputs - 1}) {
    auto w = drawn_bfloat16<float>(shape.outputs * shape.inputs);
    w[2 * shape.inputs + place] = std::nextafter(w[2 * shape.inputs + place], 1.0F);
    check_same_bits(shape, w, 1);
  }
}

TEMPLATE_TEST_CASE("A compact number takes 12 bits", "[kernels][rows]", float, Bf16) {
  if (!can_compact()) return;
  const CompactShape shape{.outputs = 5, .inputs = kWholeBlocks};
  const MadeCompact<TestType> made(shape, drawn_bfloat16<TestType>(shape.outputs * shape.inputs));
  CHECK(made.memory.size() == shape.outputs * shape.inputs * 12 / 8);
}

}  // namespace blockzoo::rows
