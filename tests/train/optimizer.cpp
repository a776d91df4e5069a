#include "blockzoo/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "blockzoo/nn/model.h"
#include "support/near.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

Model tiny_model(bool tied = false) {
  auto config = tiny_run().model;
  config.tied = tied;
  config.head_bias = true;
  config.block.norm = LayerNormConfig{};
  Model model(config);
  model->init_parameters(1);
  return model;
}

void give_gradients(torch::nn::Module& model, double value) {
  for (auto& parameter : model.parameters()) parameter.mutable_grad() = at::full_like(parameter, value);
}

}  // namespace

TEST_CASE("Decay groups hold every parameter exactly once, tied or not", "[train][optimizer][torch]") {
  const bool tied = GENERATE(false, true);
  const auto model = tiny_model(tied);
  const auto groups = decay_groups(*model, {});
  std::multiset<std::string> all(groups.decayed.begin(), groups.decayed.end());
  all.insert(groups.kept.begin(), groups.kept.end());
  const auto parameters = model->named_parameters();
  CHECK(all.size() == parameters.size());
  for (const auto& parameter : parameters) CHECK(all.count(parameter.key()) == 1);
  CHECK(parameters.contains("head.weight") == !tied);
}

TEST_CASE("By default only matrices decay; norms, biases and tables each have a switch", "[train][optimizer][torch]") {
  const auto model = tiny_model();
  const auto decays = [&](const AdamwConfig& config, const std::string& name) {
    const auto groups = decay_groups(*model, config);
    return std::find(groups.decayed.begin(), groups.decayed.end(), name) != groups.decayed.end();
  };
  CHECK(decays({}, "blocks.0.ffn.up.weight"));
  CHECK(decays({}, "head.weight"));
  for (const auto* name :
       {"blocks.0.attention_norm.gain", "blocks.0.attention_norm.bias", "head_bias", "embedding.weight"})
    CHECK_FALSE(decays({}, name));
  CHECK(decays({.decay_norms = true}, "blocks.0.attention_norm.bias"));
  CHECK_FALSE(decays({.decay_norms = true}, "head_bias"));
  CHECK(decays({.decay_biases = true}, "head_bias"));
  CHECK(decays({.decay_embeddings = true}, "embedding.weight"));
}

TEST_CASE("With zero gradients exactly the decayed parameters shrink, by lr * weight_decay",
          "[train][optimizer][torch]") {
  auto model = tiny_model();
  const AdamwConfig config{.lr = 0.1, .weight_decay = 0.5};
  std::map<std::string, Tensor> before;
  for (const auto& parameter : model->named_parameters()) before[parameter.key()] = parameter.value().detach().clone();
  Adamw optimizer(config, *model);
  give_gradients(*model, 0);
  optimizer.step(1);
  const auto groups = decay_groups(*model, config);
  const auto after = model->named_parameters();
  for (const auto& name : groups.decayed) check_near(name, after[name], before[name] * 0.95, tolerance(at::kFloat));
  for (const auto& name : groups.kept) CHECK(at::equal(after[name], before[name]));
}

TEST_CASE("The gradients' joint norm, and what clips it", "[train][optimizer][torch]") {
  auto model = tiny_model();
  const Adamw optimizer({}, *model);
  give_gradients(*model, 0.5);
  int64_t count = 0;
  for (const auto& parameter : model->parameters()) count += parameter.numel();
  CHECK(optimizer.gradient_norm() == Approx(0.5 * std::sqrt(static_cast<double>(count))));
  CHECK(clip_divisor(6, 2) == 3);
  CHECK(clip_divisor(2, 2) == 1);
  CHECK(clip_divisor(1, 2) == 1);
  CHECK(clip_divisor(6, 0) == 1);
}

TEST_CASE("An update by divided gradients is one by gradients divided before", "[train][optimizer][torch]") {
  auto model = tiny_model(), twin = tiny_model();
  const AdamwConfig config{.lr = 0.1, .eps = 0.5};  // beside the root, so that the gradients' size shows
  Adamw optimizer(config, *model), of_twin(config, *twin);
  for (const double size : {1.0, -0.25}) {
    give_gradients(*model, size);
    give_gradients(*twin, size / 4);
    optimizer.step(1, 4);
    of_twin.step(1);
    CHECK(optimizer.gradient_norm() == Approx(of_twin.gradient_norm()));
    const auto after = model->named_parameters();
    for (const auto& parameter : twin->named_parameters())
      check_near(parameter.key(), after[parameter.key()], parameter.value(), tolerance(at::kFloat));
  }
}

TEST_CASE("A missing gradient is named", "[train][optimizer][error][torch]") {
  auto model = tiny_model();
  Adamw optimizer({}, *model);
  CHECK_THROWS_WITH(optimizer.step(1), Catch::Matchers::ContainsSubstring("has no gradient"));
}

TEST_CASE("Optimizer state that does not fit is refused with every name", "[train][optimizer][error][torch]") {
  auto model = tiny_model();
  Adamw optimizer({}, *model);
  auto state = optimizer.state();
  state.erase("head_bias.mean");
  state["head_bias.square"] = at::zeros({3});
  state["stranger.mean"] = at::zeros({1});
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(optimizer.load_state(state), ContainsSubstring("missing: head_bias.mean") &&
                                                     ContainsSubstring("wrong shape: head_bias.square") &&
                                                     ContainsSubstring("unexpected: stranger.mean"));
}

}  // namespace blockzoo
