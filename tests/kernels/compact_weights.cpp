#include "blockzoo/kernels/compact_weights.h"

#include "blockzoo/kernels/choice.h"
#include "blockzoo/kernels/linear.h"
#include "kernels/compact_matrix.h"
#include "kernels/processor.h"
#include "kernels/rows/compact_floats.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

/// [300, 200] of numbers that a bfloat16 holds, none near zero.
Tensor bfloat16_matrix(const char* name, at::ScalarType type) {
  const auto drawn = ramp(name, {300, 200});
  return (drawn + 0.01 * drawn.sign()).to(at::kBFloat16).to(type);
}

/// Whether float32 numbers of their own are worth copies here.
bool worth_floats() { return rows::compacts_floats() && processor_is_avx512_amd(); }

}  // namespace

TEST_CASE("Maps of one row are the same to the bit while compact copies live", "[kernels][torch][fast]") {
  const c10::InferenceMode inference;
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    INFO(type);
    const auto w = bfloat16_matrix("w", type), v = bfloat16_matrix("v", type), b = ramp("b", {300}).to(type);
    const auto x = ramp("x", {3, 1, 200}).to(type);
    const auto one = x.slice(0, 0, 1);
    const auto expected = linear_map(one, w, b), expected_rows = linear_map(x, w, b);
    const auto expected_maps = linear_maps(one, {{w, b}, {v, {}}});
    const CompactWeights copies({w, v});
    CHECK((copies.of(w) != nullptr) == rows::compacts());
    CHECK((copies.of(v) != nullptr) == rows::compacts());
    check_equal("one row", linear_map(one, w, b), expected);
    check_equal("three rows", linear_map(x, w, b), expected_rows);
    const auto maps = linear_maps(one, {{w, b}, {v, {}}});
    check_equal("first map", maps[0], expected_maps[0]);
    check_equal("second map", maps[1], expected_maps[1]);
  }
}

TEST_CASE("A copy of float32 numbers of their own gives a row's product to the bit", "[kernels][torch][fast]") {
  const c10::InferenceMode inference;
  const auto w = ramp("w", {302, 264}).to(at::kFloat), b = ramp("b", {302}).to(at::kFloat);
  const auto x = ramp("x", {1, 264}).to(at::kFloat);
  const auto copy = compact_floats(w);
  REQUIRE((copy != nullptr) == rows::compacts_floats());
  if (copy == nullptr) return;
  // 256 of 264 inputs fill blocks, as 28 bits each; two outputs make no group.
  CHECK(copy->bytes() == 300 * (256 * 28 / 8 + 8 * 4) + 2 * 264 * 4);
  for (const auto& bias : {Tensor(), b}) {
    const auto expected = linear_map(x, w, bias), y = at::empty_like(expected);
    copy->row(x, bias, 0, 150, y);
    copy->row(x, bias, 150, 302, y);
    check_equal(bias.defined() ? "with bias" : "without", y, expected);
  }
  CHECK(compact_floats(w.to(at::kBFloat16)) == nullptr);
}

TEST_CASE("A map of one row reads the compact copy and not the matrix", "[kernels][torch][fast]") {
  const c10::InferenceMode inference;
  const auto w = bfloat16_matrix("w", at::kFloat), x = ramp("x", {1, 200}).to(at::kFloat);
  const auto before = linear_map(x, w);
  {
    const CompactWeights copies({w});
    w.mul_(2);  // which must not be done; here it tells what is read
    const auto by_copy = rows::compacts() ? before : 2 * before;
    check_equal("the copy's", linear_map(x, w), by_copy);
    {
      const CompactWeights none({});
      check_equal("the matrix's, where other copies are in use", linear_map(x, w), 2 * before);
    }
    check_equal("the copy's again", linear_map(x, w), by_copy);
  }
  check_equal("the matrix's", linear_map(x, w), 2 * before);
}

TEST_CASE("Copies are made of matrices that become smaller, by fast kernels", "[kernels][torch][fast]") {
  const auto w = bfloat16_matrix("w", at::kFloat);
  const auto taken = [](const Tensor& matrix) { return CompactWeights({matrix}).of(matrix) != nullptr; };
  CHECK(taken(w) == rows::compacts());
  CHECK(taken(w.to(at::kBFloat16)) == rows::compacts());
  const auto own = ramp("own", {300, 256}).to(at::kFloat);  // no bfloat16 numbers
  CHECK(taken(own) == worth_floats());
  CHECK_FALSE(taken(w + 1e-5));  // which become a twelfth smaller
  CHECK_FALSE(taken(w.to(at::kDouble)));
  CHECK_FALSE(taken(w.t()));                      // not side by side in memory
  CHECK_FALSE(taken(w.slice(0, 0, 30).clone()));  // small
  {
    const KernelScope reference(Kernels::kReference);
    CHECK_FALSE(taken(w));
  }
  {
    const auto large = at::zeros({1 << 14, 1 << 10});  // 64 MiB, with which all take more
    CHECK((CompactWeights({w, large}).of(w) != nullptr) == rows::compacts());
    CHECK(CompactWeights({own, large}).saved_bytes() == CompactWeights({large}).saved_bytes());
  }
  // 192 of 200 inputs fill blocks, as 12 bits each.
  CHECK(CompactWeights({w}).saved_bytes() == (rows::compacts() ? 300 * (192 * (32 - 12) / 8) : 0));
}

}  // namespace blockzoo
