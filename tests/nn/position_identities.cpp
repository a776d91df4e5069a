#include "blockzoo/nn/block.h"
#include "blockzoo/nn/position.h"
#include "support/from_yaml.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

Position rope(const std::string& fields, int64_t width, int64_t context = 256) {
  return make_position(from_yaml<PositionConfig>("{kind: rope" + fields + "}"),
                       PositionDims{.model = width, .context = context, .heads = 1, .rotary_width = width});
}

/// Scores [T, T] of queries and keys whose first token stands at `first`.
Tensor scores(const Position& position, int64_t first, at::ScalarType type) {
  const auto q = position->rotate(ramp("q", {1, 17, 1, 8}).to(type), first),
             k = position->rotate(ramp("k", {1, 17, 1, 8}).to(type), first);
  return q.squeeze().mm(k.squeeze().t());
}

TEST_CASE("scores under RoPE depend on distances only", "[nn][torch][identity][position]") {
  for (const std::string fields : {"", ", pairing: interleaved", ", rotary_fraction: 0.5", ", still_fraction: 0.5",
                                   ", scaling: {kind: yarn, factor: 8.0, original_context: 64}"}) {
    INFO(fields);
    const auto position = rope(fields, 8);
    check_near("scores 5 tokens on", scores(position, 5, at::kFloat), scores(position, 0, at::kFloat), {1e-5, 0});
    check_near("scores 200 tokens on", scores(position, 200, at::kFloat), scores(position, 0, at::kFloat), {2e-5, 0});
  }
  check_equal("the vector of position 0 does not turn", rope("", 8)->rotate(ramp("q", {1, 1, 1, 8}), 0),
              ramp("q", {1, 1, 1, 8}));
}

TEST_CASE("RoPE's two pairings differ from position 1 on and are one permutation of channels apart",
          "[nn][torch][identity][position]") {
  const auto x = ramp("x", {1, 9, 2, 8});
  const auto half = rope("", 8), interleaved = rope(", pairing: interleaved", 8);
  const auto a = half->rotate(x, 0), b = interleaved->rotate(x, 0);
  check_equal("position 0", b.slice(1, 0, 1), a.slice(1, 0, 1));
  for (int64_t t = 1; t < 9; ++t) CHECK_FALSE(at::allclose(b.select(1, t), a.select(1, t)));
  // Channel 2i of interleaved is channel i of half, 2i + 1 is i + 4.
  const auto order = at::tensor({0, 4, 1, 5, 2, 6, 3, 7});
  check_near("permuted", interleaved->rotate(x.index_select(-1, order), 0), a.index_select(-1, order));
}

TEST_CASE("partial RoPE turns the first channels as a narrower head would, and passes the rest through bit for bit",
          "[nn][torch][identity][position]") {
  const auto x = ramp("x", {1, 9, 2, 16});
  for (const std::string pairing : {"half", "interleaved"}) {
    for (const auto& [fraction, channels] :
         std::vector<std::pair<std::string, int64_t>>{{"1.0", 16}, {"0.5", 8}, {"0.25", 4}, {"0.125", 2}}) {
      const auto y = rope(", rotary_fraction: " + fraction + ", pairing: " + pairing, 16)->rotate(x, 3);
      check_equal("rest", y.slice(-1, channels), x.slice(-1, channels));
      check_equal("turned", y.slice(-1, 0, channels),
                  rope(", pairing: " + pairing, channels)->rotate(x.slice(-1, 0, channels), 3));
    }
  }
}

TEST_CASE("p-RoPE leaves the pairs of the lowest frequencies in place and turns the others as RoPE does",
          "[nn][torch][identity][position]") {
  const auto x = ramp("x", {1, 9, 1, 16});
  const auto y = rope(", still_fraction: 0.25", 16)->rotate(x, 1), full = rope("", 16)->rotate(x, 1);
  const auto still = at::tensor({6, 7, 14, 15}), turning = at::tensor({0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13});
  check_equal("still", y.index_select(-1, still), x.index_select(-1, still));
  check_equal("turning", y.index_select(-1, turning), full.index_select(-1, turning));
}

TEST_CASE("linear scaling by f makes position f t what position t was", "[nn][torch][identity][position]") {
  const auto x = ramp("x", {1, 1, 1, 8});
  const auto scaled = rope(", scaling: {kind: linear, factor: 4.0}", 8), plain = rope("", 8);
  for (const int64_t t : {0, 1, 7, 50})
    check_near("position", scaled->rotate(x, 4 * t), plain->rotate(x, t), {1e-7, 1e-6});
}

TEST_CASE("RoPE keeps its tables in float32 when a model is moved to a half type", "[nn][torch][identity][position]") {
  // In bf16 position 255 would round to 256 and every table entry to 8 bits.
  for (const std::string kind : {"{kind: rope}", "{kind: sinusoidal}", "{kind: alibi}", "{kind: relative_bias}"}) {
    INFO(kind);
    const PositionDims needs{.model = 8, .context = 512, .heads = 3, .rotary_width = 8};
    auto plain = make_position(from_yaml<PositionConfig>(kind), needs),
         moved = make_position(from_yaml<PositionConfig>(kind), needs);
    moved->to(at::kBFloat16);
    const auto x = ramp("x", {1, 3, 8}).to(at::kFloat), q = ramp("q", {1, 3, 1, 8}).to(at::kFloat);
    check_equal("embed", moved->embed(x, 509), plain->embed(x, 509));
    check_equal("rotate", moved->rotate(q, 509), plain->rotate(q, 509));
    if (const auto bias = plain->distance_bias(512); bias.defined())
      check_equal("bias", moved->distance_bias(512), bias);
  }
}

TEST_CASE("Transformer-XL's scores know distances only, and a few queries at the end get what all of them get",
          "[nn][torch][identity][position]") {
  auto position =
      make_position(TransformerXlPositionConfig{}, {.model = 7, .context = 12, .heads = 2, .rotary_width = 4});
  position->to(at::kDouble);
  fill_with_ramp(*position);
  const auto q = ramp("q", {1, 1, 2, 4}).expand({1, 9, 2, 4});  // the same query at every place
  const auto scores = position->relative_scores(q, 9, 1);
  for (int64_t step = 1; step < 9; ++step)
    check_near("diagonal", scores.slice(2, step).slice(3, step).tril(),
               scores.slice(2, 0, 9 - step).slice(3, 0, 9 - step).tril());
  const auto different = ramp("d", {1, 9, 2, 4});
  check_near("the last three", position->relative_scores(different.slice(1, 6), 9, 1),
             position->relative_scores(different, 9, 1).slice(2, 6));
}

TEST_CASE("ALiBi's slopes are those of the paper", "[nn][torch][identity][position]") {
  const auto slopes = [](int64_t heads) {
    auto position = make_position(AlibiPositionConfig{}, {.model = 8, .context = 4, .heads = heads});
    return -position->distance_bias(2).select(1, 1);  // one step back
  };
  check_equal("8 heads", slopes(8), at::tensor({0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}));
  check_equal("1 head", slopes(1), at::tensor({0.00390625}));
  check_equal("2 heads", slopes(2), at::tensor({0.0625, 0.00390625}));
  check_equal("3 heads", slopes(3), at::tensor({0.0625, 0.00390625, 0.25}));
  const auto twelve = slopes(12);
  check_equal("12 heads, the first 8", twelve.slice(0, 0, 8), slopes(8));
  check_equal("12 heads, the rest", twelve.slice(0, 8), slopes(16).index({at::tensor({0, 2, 4, 6})}));
}

TEST_CASE("T5's buckets are single below half, logarithmic above, and one beyond the longest distance",
          "[nn][torch][identity][position]") {
  const at::NoGradGuard no_grad;
  auto position = make_position(from_yaml<PositionConfig>("{kind: relative_bias, buckets: 32, max_distance: 128}"),
                                {.model = 8, .context = 400, .heads = 1});
  position->named_parameters()["table.weight"].copy_(at::arange(32).view({32, 1}));
  const auto row = position->distance_bias(400)[0];
  const std::vector<std::pair<int64_t, int64_t>> expected{
      {0, 0},   {1, 1},   {15, 15}, {16, 16},  {18, 16},  {19, 17},  {31, 21},  {32, 21}, {33, 21},
      {34, 21}, {35, 22}, {64, 26}, {112, 30}, {113, 31}, {127, 31}, {128, 31}, {399, 31}};
  for (const auto& [distance, bucket] : expected) {
    INFO("distance " << distance);
    CHECK(row[distance].item<int64_t>() == bucket);
  }
}

}  // namespace
}  // namespace blockzoo
