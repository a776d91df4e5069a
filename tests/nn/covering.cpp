#include "support/covering.h"

#include <set>

#include "blockzoo/nn/model.h"
#include "support/near.h"

namespace blockzoo {
namespace {

TEST_CASE("in the covering set every two values meet", "[nn][contract][covering]") {
  const auto factors = covering_factors();
  const auto rows = pairwise_rows(factors);
  for (size_t f = 0; f < factors.size(); ++f) {
    for (size_t g = f + 1; g < factors.size(); ++g) {
      std::set<std::pair<size_t, size_t>> seen;
      for (const auto& row : rows) seen.insert({row[f], row[g]});
      CHECK(seen.size() == factors[f].values.size() * factors[g].values.size());
    }
  }
  CHECK(rows.size() <= 150);
}

TEST_CASE("every two values of the zoo work together: finite logits, and a gradient at every parameter",
          "[nn][torch][contract][covering]") {
  const auto models = covering_models();
  const auto tokens = at::arange(24).remainder(17).view({2, 12});
  for (const auto& [name, config] : models) {
    INFO(name);
    Model model(config);
    model->init_parameters(1);
    const auto logits = model->forward(tokens);
    CHECK(logits.sizes() == at::IntArrayRef{2, 12, 17});
    CHECK(logits.isfinite().all().item<bool>());
    at::cross_entropy_loss(logits.flatten(0, 1), tokens.flatten().roll(-1)).backward();
    // What the norm of the last layer's output takes away: that factor's gradient is rounding alone, or eps.
    const auto last_factor = "blocks." + std::to_string(config.layers - 1) + ".output_factor";
    for (const auto& item : model->named_parameters()) {
      INFO(item.key());
      REQUIRE(item.value().grad().defined());
      CHECK(item.value().grad().isfinite().all().item<bool>());
      if (item.key() != last_factor) CHECK(item.value().grad().ne(0).any().item<bool>());
    }
    CHECK(count_parameters(config).total == [&] {
      int64_t total = 0;
      for (const auto& parameter : model->parameters()) total += parameter.numel();
      return total;
    }());
  }
}

TEST_CASE("a resolved config of any two values reads back as itself and builds the same model",
          "[nn][torch][contract][covering]") {
  const auto tokens = at::arange(12).view({1, 12});
  const at::NoGradGuard no_grad;
  for (const auto& [name, config] : covering_models()) {
    INFO(name);
    const auto full = resolved(config);
    const auto text = write_yaml(to_tree(full));
    const auto again = read_config<ModelConfig>(parse_yaml(text, "resolved.yaml"));
    CHECK(write_yaml(to_tree(again)) == text);
    CHECK(write_yaml(to_tree(resolved(again))) == text);
    Model one(config), two(again);
    for (auto* model : {&one, &two}) {
      (*model)->init_parameters(1);
      (*model)->eval();
    }
    check_equal("logits", two->forward(tokens), one->forward(tokens));
  }
}

}  // namespace
}  // namespace blockzoo
