// A matrix of float32 in 28 bits a number gives, to the bit, what the matrix itself gives; without LibTorch, so that
// sanitizers see it.
#include "kernels/rows/compact_floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/rows/few_rows.h"
#include "kernels/rows/instructions.h"
#include "support/catch.h"

namespace blockzoo::rows {
namespace {

/// Draws of a normal distribution, none of them near zero.
std::vector<float> drawn(size_t count, uint32_t seed = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.02F);
  std::vector<float> numbers(count);
  for (auto& number : numbers) {
    do number = normal(random);
    while (std::abs(number) < 1e-4F);
  }
  return numbers;
}

struct MadeFloats {
  const std::vector<float>& matrix;
  std::vector<FloatGroup> groups;
  std::vector<uint8_t> memory;

  MadeFloats(const CompactShape& shape, const std::vector<float>& w)
      : matrix(w), groups(shape.outputs / kOutputsOfGroup), memory(groups.size() * group_bytes(shape)) {
    const auto middle = groups.size() / 2;
    make_compact_floats(shape, w.data(), 0, middle, groups.data(), memory.data());
    make_compact_floats(shape, w.data(), middle, groups.size(), groups.data(), memory.data());
  }
  CompactFloats compact() const { return {matrix.data(), groups.data(), memory.data()}; }
  size_t plain_groups() const {
    return static_cast<size_t>(
        std::count_if(groups.begin(), groups.end(), [](const auto& group) { return !group.compact; }));
  }
};

void check_same_bits(const CompactShape& shape, const std::vector<float>& w, size_t plain_groups) {
  const MadeFloats made(shape, w);
  CHECK(made.plain_groups() == plain_groups);
  const auto x = drawn(shape.inputs, 5), bias = drawn(shape.outputs, 7);
  const FewRowsShape few{.rows = 1, .inputs = shape.inputs, .outputs = shape.outputs};
  for (const float* own_bias : {static_cast<const float*>(nullptr), bias.data()}) {
    std::vector<float> expected(shape.outputs), actual(shape.outputs);
    few_rows(few, x.data(), w.data(), own_bias, 0, shape.outputs, expected.data());
    const auto part = std::min<size_t>(6, shape.outputs);  // in the middle of a group
    compact_floats_row(shape, made.compact(), x.data(), own_bias, 0, part, actual.data());
    compact_floats_row(shape, made.compact(), x.data(), own_bias, part, shape.outputs, actual.data());
    CHECK(std::memcmp(expected.data(), actual.data(), shape.outputs * sizeof(float)) == 0);
  }
}

/// AVX-512 has compact floats; elsewhere there is nothing to try.
bool can_compact_floats() {
  CHECK(compacts_floats() == (std::string_view(instructions()).substr(0, 4) == "AVX3"));
  if (!compacts_floats()) WARN("no compact floats by the instructions of this processor: not tried");
  return compacts_floats();
}

constexpr size_t kBlocks = 256;  // inputs that fill two blocks

}  // namespace

TEST_CASE("Compact floats give the same to the bit, whatever the length of a row", "[kernels][rows]") {
  if (!can_compact_floats()) return;
  for (const size_t inputs : {7, 64, 128, 129, 143, 144, 200, 256, 320, 512}) {
    for (const size_t outputs : {1, 3, 4, 7, 8, 13, 20}) {
      INFO(inputs << " inputs, " << outputs << " outputs");
      check_same_bits({outputs, inputs}, drawn(outputs * inputs), 0);
    }
  }
}

TEST_CASE("Every number of a compact matrix comes back as it is", "[kernels][rows]") {
  if (!can_compact_floats()) return;
  const CompactShape shape{.outputs = 8, .inputs = kBlocks};
  const auto w = drawn(shape.outputs * shape.inputs);
  const MadeFloats made(shape, w);
  REQUIRE(made.plain_groups() == 0);
  for (size_t i = 0; i < shape.inputs; ++i) {
    std::vector<float> one(shape.inputs), y(shape.outputs);
    one[i] = 1;
    compact_floats_row(shape, made.compact(), one.data(), nullptr, 0, shape.outputs, y.data());
    for (size_t o = 0; o < shape.outputs; ++o) CHECK(y[o] == w[o * shape.inputs + i]);
  }
}

TEST_CASE("Groups whose exponents are too far apart are read from the matrix", "[kernels][rows]") {
  if (!can_compact_floats()) return;
  const CompactShape shape{.outputs = 14, .inputs = kBlocks + 5};
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float strange : {0.0F, -0.0F, 1e-30F, -1e-40F, 1e9F, -1e20F, infinity, -infinity, std::nanf("")}) {
    for (const size_t place : {size_t{0}, size_t{77}, kBlocks - 1}) {
      INFO(strange << " at " << place);
      auto w = drawn(shape.outputs * shape.inputs);
      for (const size_t row : {1, 10, 12}) w[row * shape.inputs + place] = strange;  // of three groups, one not whole
      check_same_bits(shape, w, 2);
    }
  }
  auto w = drawn(shape.outputs * shape.inputs);
  w[kBlocks] = infinity;  // behind the blocks
  check_same_bits(shape, w, 0);
}

TEST_CASE("Groups of zeros, infinities or numbers next to zero are compact where they have few exponents",
          "[kernels][rows]") {
  if (!can_compact_floats()) return;
  const CompactShape shape{.outputs = 4, .inputs = kBlocks};
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [even, odd] : {std::pair{0.0F, -0.0F},
                                  {1e-40F, -3e-42F},
                                  {1e-40F, 1e-36F},
                                  {infinity, -infinity},
                                  {infinity, 1e38F},
                                  {std::nanf(""), -1e35F}}) {
    INFO(even << " and " << odd);
    std::vector<float> w(shape.outputs * shape.inputs);
    for (size_t i = 0; i < w.size(); ++i) w[i] = i % 2 == 0 ? even : odd;
    check_same_bits(shape, w, 0);
  }
}

TEST_CASE("A group may hold sixteen exponents, thirty-one apart, and no more", "[kernels][rows]") {
  if (!can_compact_floats()) return;
  const CompactShape shape{.outputs = 4, .inputs = kBlocks};
  const auto with_exponents = [&](int some, int furthest) {
    auto w = drawn(shape.outputs * shape.inputs);
    for (size_t i = 0; i < w.size(); ++i) {
      const auto which = static_cast<int>(i) % some;
      int ignored = 0;
      w[i] = std::ldexp(std::frexp(w[i], &ignored), -(which == some - 1 ? furthest : which));
    }
    return w;
  };
  check_same_bits(shape, with_exponents(16, 15), 0);
  check_same_bits(shape, with_exponents(17, 16), 1);
  check_same_bits(shape, with_exponents(16, 31), 0);
  check_same_bits(shape, with_exponents(16, 32), 1);
}

TEST_CASE("A compact float takes 28 bits", "[kernels][rows]") {
  if (!can_compact_floats()) return;
  CHECK(group_bytes({.outputs = 4, .inputs = kBlocks}) == kOutputsOfGroup * kBlocks * 28 / 8);
  CHECK(group_bytes({.outputs = 4, .inputs = kBlocks + 9}) == kOutputsOfGroup * (kBlocks * 28 / 8 + 9 * sizeof(float)));
}

}  // namespace blockzoo::rows
