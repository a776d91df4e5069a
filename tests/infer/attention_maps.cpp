#include "blockzoo/infer/attention_maps.h"

#include <cmath>

#include "support/covering.h"
#include "support/golden.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

Model filled(const ModelConfig& config) {
  Model model(config);
  fill_with_ramp(*model);
  return model;
}

std::vector<int64_t> all_layers(const ModelConfig& config) {
  std::vector<int64_t> layers;
  for (int64_t layer = 0; layer < config.layers; ++layer) layers.push_back(layer);
  return layers;
}

int64_t window_of(const BlockConfig& block) {
  return std::visit([](const auto& attention) { return attention.window; }, block.attention);
}

int64_t heads_of(const BlockConfig& block) {
  return std::visit([](const auto& attention) { return attention.heads; }, block.attention);
}

/// The figures of a map of one head, whose queries see all before them.
HeadFigures figures_of(const std::vector<std::vector<double>>& rows) {
  const auto size = std::ssize(rows);
  auto weights = at::zeros({1, size, size}, at::kDouble);
  for (int64_t query = 0; query < size; ++query)
    weights[0][query].copy_(at::tensor(rows[static_cast<size_t>(query)], at::kDouble));
  return head_figures({.layer = 0, .weights = weights, .visible = at::arange(1, size + 1)}).front();
}

}  // namespace

TEST_CASE("attention maps are the weights that transformers returns", "[infer][torch][golden][attend]") {
  const auto file = golden("attention_weights");
  const auto ids = file["tokens"].get<std::vector<int64_t>>();
  for (const auto& expected : file["cases"]) {
    INFO(expected["name"].get<std::string>());
    const auto config = from_yaml<ModelConfig>(expected["config"].dump());
    for (const auto type : {at::kDouble, at::kFloat}) {
      auto model = filled(config);
      model->to(type);
      const auto maps = attention_maps(*model, ids, all_layers(config));
      REQUIRE(maps.size() == expected["layers"].size());
      for (size_t layer = 0; layer < maps.size(); ++layer) {
        const auto& theirs = expected["layers"][layer];
        const auto shape = theirs["shape"].get<std::vector<int64_t>>();
        check_near("layer " + std::to_string(layer), maps[layer].weights, tensor_of(theirs["weights"], shape),
                   tolerance(at::kFloat));  // transformers takes Llama's softmax in float32
      }
    }
  }
}

TEST_CASE("every kind's rows sum to one, and stay within the mask and the window",
          "[infer][torch][contract][covering][attend]") {
  const std::vector<int64_t> ids{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 16};
  const auto length = std::ssize(ids);
  const auto back = at::arange(length).unsqueeze(1) - at::arange(length);  // of a key behind its query
  for (const auto& [name, config] : covering_models()) {
    INFO(name);
    auto model = filled(config);
    const at::NoGradGuard no_grad;
    model->eval();
    const auto tokens = at::tensor(ids, at::kLong).unsqueeze(0);
    const auto unobserved = model->forward(tokens);
    model->train();
    const auto maps = attention_maps(*model, ids, all_layers(config));
    CHECK(model->is_training());
    model->eval();
    check_equal("logits afterwards", model->forward(tokens), unobserved);
    const auto blocks = expand_layers(config);
    REQUIRE(maps.size() == blocks.size());
    for (size_t layer = 0; layer < maps.size(); ++layer) {
      const auto& map = maps[layer];
      const auto heads = heads_of(blocks[layer]), window = window_of(blocks[layer]);
      CHECK(map.layer == static_cast<int64_t>(layer));
      CHECK(map.weights.sizes() == at::IntArrayRef{heads, length, length});
      check_near("sums", map.weights.sum(-1), at::ones({heads, length}));
      const auto seen = back.ge(0).logical_and(back.lt(window > 0 ? window : length));
      check_equal("unseen keys", map.weights.masked_fill(seen, 0), at::zeros_like(map.weights));
      check_equal("number of seen keys", map.visible, seen.sum(-1));
      CHECK(map.weights.masked_select(seen).gt(0).all().item<bool>());
    }
  }
}

TEST_CASE("the figures of a head are means over its queries but the first", "[infer][torch][attend]") {
  const auto even = figures_of({{1, 0, 0}, {0.5, 0.5, 0}, {1 / 3.0, 1 / 3.0, 1 / 3.0}});
  CHECK(even.entropy_nats == Approx((std::log(2) + std::log(3)) / 2));
  CHECK(even.entropy_share == Approx(1));
  CHECK(even.on_self == Approx((0.5 + 1 / 3.0) / 2));
  CHECK(even.on_previous == Approx((0.5 + 1 / 3.0) / 2));
  CHECK(even.on_first == Approx((0.5 + 1 / 3.0) / 2));
  const auto previous = figures_of({{1, 0, 0}, {1, 0, 0}, {0, 1, 0}});
  CHECK(previous.entropy_nats == 0);
  CHECK(previous.entropy_share == 0);
  CHECK(previous.on_self == 0);
  CHECK(previous.on_previous == 1);
  CHECK(previous.on_first == 0.5);
  const auto alone = figures_of({{1}});
  CHECK((std::isnan(alone.entropy_nats) && std::isnan(alone.on_self) && std::isnan(alone.on_previous)));
}

TEST_CASE("only the layers that are asked for are kept, and ids that do not fit are refused",
          "[infer][torch][error][attend]") {
  auto model =
      filled(from_yaml<ModelConfig>("{vocabulary: 11, width: 8, layers: 3, context: 4, "
                                    "block: {attention: {heads: 2}}}"));
  const auto maps = attention_maps(*model, {1, 2}, {2, 0});
  REQUIRE(maps.size() == 2);
  CHECK((maps[0].layer == 0 && maps[1].layer == 2));
  CHECK_THROWS_WITH(attention_maps(*model, {}, {0}), ContainsSubstring("the prompt is empty"));
  CHECK_THROWS_WITH(attention_maps(*model, {1, 2, 3, 4, 5}, {0}),
                    ContainsSubstring("the prompt has 5 tokens, but the model's context is 4"));
  CHECK_THROWS_WITH(attention_maps(*model, {1, 11}, {0}), ContainsSubstring("has the id 11"));
  CHECK_THROWS_WITH(attention_maps(*model, {1}, {0, 3}), ContainsSubstring("layer 3 has no attention weights"));
}

}  // namespace blockzoo
