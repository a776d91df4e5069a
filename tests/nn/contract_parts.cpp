#include <functional>

#include "blockzoo/kernels/attention.h"
#include "blockzoo/nn/block.h"
#include "support/from_yaml.h"
#include "support/gradcheck.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

constexpr Dims part_dims{.model = 8, .context = 12};
const PositionDims needs{.model = 8, .context = 12, .heads = 2, .rotary_width = 4};

Tensor leaf(at::IntArrayRef shape, at::ScalarType type = at::kDouble) {
  return ramp("x", shape).to(type).requires_grad_();
}

/// Shape, type and gradients of one part that maps a stream to a stream.
void check_part(torch::nn::Module& module, at::IntArrayRef shape, const std::function<Tensor(const Tensor&)>& forward) {
  for (const auto type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    INFO(type);
    module.to(type);
    fill_with_ramp(module);
    const auto y = forward(ramp("x", shape).to(type));
    CHECK(y.sizes() == shape);
    CHECK(y.scalar_type() == type);
    CHECK(y.isfinite().all().item<bool>());
  }
  auto leaves = parameters_of(module);
  const auto x = leaves["x"] = leaf(shape);
  check_gradients(leaves, [&] { return (forward(x) * ramp("cotangent", shape)).sum(); });
  for (const auto& [name, parameter] : parameters_of(module)) {
    INFO(name);
    REQUIRE(parameter.grad().defined());
    CHECK(parameter.grad().ne(0).any().item<bool>());
  }
}

TEST_CASE("every norm keeps shape and type and has the gradients of its output", "[nn][torch][contract][norm]") {
  for (const auto& config : all_kinds<NormConfig>()) {
    for (const auto& shape : {std::vector<int64_t>{8}, std::vector<int64_t>{2, 4}}) {
      INFO(kind_of(config) << " over " << shape.size() << " dims");
      auto norm = make_norm(config, shape);
      std::vector<int64_t> x_shape{2, 3};
      x_shape.insert(x_shape.end(), shape.begin(), shape.end());
      check_part(*norm, x_shape, [&](const Tensor& x) { return norm->forward(x); });
    }
  }
}

TEST_CASE("every feed-forward sublayer keeps shape and type and has the gradients of its output",
          "[nn][torch][contract][ffn]") {
  for (const auto& config : all_kinds<FfnConfig>()) {
    for (const auto& [activation, name] : names(Activation{})) {
      INFO(kind_of(config) << " with " << name);
      auto chosen = config;
      std::visit(
          [&, f = activation](auto& kind) {
            kind.activation = f;
            kind.bias = true;
          },
          chosen);
      auto ffn = make_ffn(chosen, part_dims);
      check_part(*ffn, {2, 3, 8}, [&](const Tensor& x) { return ffn->forward(x); });
    }
  }
}

TEST_CASE("every position encoding keeps shape and type where it acts", "[nn][torch][contract][position]") {
  for (const auto& config : all_kinds<PositionConfig>()) {
    INFO(kind_of(config));
    auto position = make_position(config, needs);
    for (const auto type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
      INFO(type);
      position->to(type);
      fill_with_ramp(*position);
      const auto x = ramp("x", {2, 5, 8}).to(type), q = ramp("q", {2, 5, 2, 4}).to(type);
      CHECK(position->embed(x, 3).sizes() == x.sizes());
      CHECK(position->embed(x, 3).scalar_type() == type);
      CHECK(position->rotate(q, 3).sizes() == q.sizes());
      CHECK(position->rotate(q, 3).scalar_type() == type);
      if (const auto bias = position->distance_bias(8); bias.defined()) CHECK(bias.sizes() == at::IntArrayRef{2, 8});
      CHECK(position->content_queries(q).sizes() == q.sizes());
      CHECK(position->content_queries(q).scalar_type() == type);
      if (const auto scores = position->relative_scores(q, 8, 1); scores.defined()) {
        CHECK(scores.sizes() == at::IntArrayRef{2, 2, 5, 8});
        CHECK(scores.scalar_type() == type);
      }
    }
    auto leaves = parameters_of(*position);
    const auto x = leaves["x"] = leaf({2, 5, 8});
    const auto q = leaves["q"] = leaf({2, 5, 2, 4});
    check_gradients(leaves, [&] {
      AttendOptions added{.scale = 0.5};
      position->add_scores(q, 8, added);
      auto acted = (position->embed(x, 3) * ramp("a", x.sizes())).sum() +
                   (position->rotate(q, 3) * ramp("b", q.sizes())).sum() +
                   (position->content_queries(q) * ramp("d", q.sizes())).sum();
      for (const auto& bias : {added.bias, added.distance_bias})
        if (bias.defined()) acted = acted + (bias * ramp("c", bias.sizes())).sum();
      return acted;
    });
  }
}

TEST_CASE("every attention keeps shape and type and has the gradients of its output, with every position encoding",
          "[nn][torch][contract][attention]") {
  for (const auto& attention_config : all_kinds<AttentionConfig>()) {
    for (const auto& position_config : all_kinds<PositionConfig>()) {
      INFO(kind_of(attention_config) << " with " << kind_of(position_config));
      BlockConfig block;
      block.attention = attention_config;
      block.position = position_config;
      std::visit(
          [](auto& kind) {
            kind.heads = 2;
            kind.output_bias = true;
          },
          block.attention);
      auto position = make_position(block.position, position_dims(block, part_dims));
      auto attention = make_attention(block.attention, part_dims);
      check_part(*attention, {2, 5, 8},
                 [&](const Tensor& x) { return attention->forward(x, Context{.position = position.get()}); });
    }
  }
}

TEST_CASE("every layout keeps shape and type and has the gradients of its output, with every norm",
          "[nn][torch][contract][layout]") {
  for (const auto& layout : all_kinds<LayoutConfig>()) {
    for (const auto& norm : all_kinds<NormConfig>()) {
      INFO(kind_of(layout) << " with " << kind_of(norm));
      auto config = from_yaml<BlockConfig>("{attention: {heads: 2}, ffn: {hidden: 6}, residual_scale: 0.5}");
      config.layout = layout;
      config.norm = norm;
      auto position = make_position(config.position, position_dims(config, part_dims));
      auto block = make_block(config, part_dims);
      check_part(*block, {2, 5, 8},
                 [&](const Tensor& x) { return block->forward(x, Context{.position = position.get()}); });
    }
  }
}

TEST_CASE("parts name themselves and both sizes when a shape does not fit", "[nn][torch][error]") {
  for (const auto& config : all_kinds<NormConfig>()) {
    if (kind_of(config) == "none") continue;
    INFO(kind_of(config));
    CHECK_THROWS_WITH(make_norm(config, {8})->forward(at::ones({2, 7})),
                      Catch::Matchers::ContainsSubstring("[" + kind_of(config) + "]") &&
                          Catch::Matchers::ContainsSubstring("must be 8, got x [2, 7]"));
  }
  for (const auto& config : all_kinds<PositionConfig>()) {
    if (kind_of(config) == "none" || kind_of(config) == "alibi") continue;  // these know no longest sequence
    INFO(kind_of(config));
    auto position = make_position(config, needs);
    const auto use = [&] {
      position->embed(at::ones({1, 13, 8}), 0);
      position->rotate(at::ones({1, 13, 2, 4}), 0);
      AttendOptions options;
      position->add_scores(at::ones({1, 13, 2, 4}), 13, options);
    };
    CHECK_THROWS_WITH(use(), Catch::Matchers::ContainsSubstring("[" + kind_of(config) + "]") &&
                                 Catch::Matchers::ContainsSubstring("13") && Catch::Matchers::ContainsSubstring("12"));
  }
  CHECK_THROWS_WITH(Embedding(4, 2)->forward(at::tensor({1, 4})), Catch::Matchers::ContainsSubstring("4"));
  CHECK_THROWS_WITH(Embedding(4, 2)->forward(at::tensor({-1, 3})), Catch::Matchers::ContainsSubstring("-1"));
}

}  // namespace
}  // namespace blockzoo
