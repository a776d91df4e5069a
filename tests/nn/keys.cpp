#include <algorithm>
#include <set>

#include "blockzoo/nn/model.h"
#include "support/from_yaml.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

/// Values that are tried for a key, until one is accepted and is not the default.
const std::vector<std::string> candidates{"2",
                                          "0.25",
                                          "40",
                                          "true",
                                          "false",
                                          "{kind: none}",
                                          "{kind: layer_norm}",
                                          "{kind: head}",
                                          "gelu_tanh",
                                          "interleaved",
                                          "{kind: linear, factor: 3.0}"};

/// What a model of this config is and does: names and start values of parameters, and logits in training.
struct Behaviour {
  std::vector<Tensor> tensors;
  explicit Behaviour(const ModelConfig& config) {
    Model model(config);
    model->init_parameters(1);
    const at::NoGradGuard no_grad;
    for (const auto& [name, value] : parameters_of(*model)) tensors.push_back(value.clone());
    fill_with_ramp(*model);
    at::manual_seed(1);
    tensors.push_back(model->forward(at::arange(24).remainder(11).view({2, 12})));
  }
  bool operator==(const Behaviour& other) const {
    return std::equal(tensors.begin(), tensors.end(), other.tensors.begin(), other.tensors.end(),
                      [](const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes() && at::equal(a, b); });
  }
};

/// Every key of the map at `path` that is no map itself changes what the model is or does, and survives a round trip.
void check_keys(const Tree& base, const std::string& path, const std::set<std::string>& excused) {
  const auto at_path = [&](const std::string& key, Tree value) { return nested(path + "." + key, std::move(value)); };
  const auto before = read_config<ModelConfig>(base);
  const Behaviour plain(before);
  for (const auto& [key, default_value] : base.deepest(path).entries) {
    if (key == "kind" || excused.count(key)) continue;
    INFO(path << "." << key);
    bool acts = false;
    for (const auto& candidate : candidates) {
      const auto tree = overlay(base, at_path(key, parse_yaml(candidate, "candidate")));
      ModelConfig config;
      std::vector<Problem> problems;
      Reader(tree, "", problems).fill(config);
      if (!problems.empty() || to_tree(config) == to_tree(before)) continue;
      const auto again = read_config<ModelConfig>(parse_yaml(write_yaml(to_tree(config)), "again"));
      CHECK(to_tree(again) == to_tree(config));
      if ((acts = !(Behaviour(config) == plain))) break;
    }
    CHECK(acts);
  }
}

template <class Variant>
void check_family(const std::string& path, const std::string& rest, const std::set<std::string>& excused = {}) {
  for (const auto& kind : all_kinds<Variant>()) {
    INFO(path << " of kind " << kind_of(kind));
    auto tree = overlay(
        parse_yaml("{vocabulary: 11, width: 16, layers: 2, context: 12, block: {attention: {heads: 4}}}", "base"),
        parse_yaml(rest, "rest"));
    auto full = overlay(tree, nested(path, to_tree(kind)));
    if (path == "block.attention") full = overlay(full, parse_yaml("{block: {attention: {heads: 4}}}", "heads"));
    check_keys(to_tree(read_config<ModelConfig>(full)), path, excused);
  }
}

TEST_CASE("every key of every kind changes what the model is or does, and survives a round trip",
          "[nn][torch][contract][keys]") {
  check_family<NormConfig>("block.norm", "{}");
  check_family<FfnConfig>("block.ffn", "{}", {"rounding"});  // acts beside multiple_of only; it has its own test
  // max_distance acts on sequences beyond half of the buckets only; it has its own test.
  check_family<PositionConfig>("block.position", "{block: {attention: {head_width: 16}}}", {"max_distance"});
  check_family<RopeScaling>("block.position.scaling", "{block: {attention: {head_width: 16}}}");
  // Keys and values of an earlier layer need one; they have their own tests.
  check_family<AttentionConfig>("block.attention", "{}", {"reuse_keys_values"});
  check_family<QkNormConfig>("block.attention.qk_norm", "{}");
  check_family<ScaleConfig>("embedding_scale", "{}");
  check_family<ScaleConfig>("logit_scale", "{}");
  check_family<MatrixInit>("init.matrices", "{}");
  check_family<TableInit>("init.embeddings", "{}");
  check_family<MatrixInit>("init.head", "{}");
}

TEST_CASE("every key of the model and of the block changes what the model is or does", "[nn][torch][contract][keys]") {
  const auto base = to_tree(read_config<ModelConfig>(
      parse_yaml("{vocabulary: 11, width: 16, layers: 2, context: 12, block: {attention: {heads: 4}}}", "base")));
  Tree whole = Tree::map();
  const Behaviour plain(read_config<ModelConfig>(base));
  for (const std::string change : {"vocabulary: 12",
                                   "width: 8",
                                   "layers: 3",
                                   "embedding_width: 4",
                                   "embedding_scale: {kind: sqrt_width}",
                                   "embedding_norm: {kind: rms_norm}",
                                   "embedding_dropout: 0.5",
                                   "final_norm: {kind: none}",
                                   "tied: true",
                                   "head_bias: true",
                                   "logit_scale: {kind: inverse_sqrt_width}",
                                   "final_softcap: 0.5",
                                   "block: {dropout: 0.5}",
                                   "block: {residual_scale: 0.5}",
                                   "block: {output_factor: true}",
                                   "layer_embedding_width: 3",
                                   "overrides: [{layers: [1], block: {attention: {reuse_keys_values: true}}}]",
                                   "block: {layout: {kind: post_norm}}",
                                   "init: {depth_scaled_outputs: false}",
                                   "init: {head: {kind: glorot}}",
                                   "overrides: [{layers: [0], block: {norm: {kind: none}}}]"}) {
    INFO(change);
    CHECK_FALSE(Behaviour(read_config<ModelConfig>(overlay(base, parse_yaml(change, "change")))) == plain);
  }
}

TEST_CASE("every kind's defaults write and read back as themselves", "[nn][contract][keys]") {
  const auto check = [](const auto& kinds) {
    for (const auto& kind : kinds) {
      const auto text = write_yaml(nested("value", to_tree(kind)));
      INFO(text);
      using Variant = std::decay_t<decltype(kind)>;
      CHECK(to_tree(read_config<OneField<Variant>>(parse_yaml(text, "again")).value) == to_tree(kind));
    }
  };
  check(all_kinds<NormConfig>());
  check(all_kinds<FfnConfig>());
  check(all_kinds<PositionConfig>());
  check(all_kinds<RopeScaling>());
  check(all_kinds<AttentionConfig>());
  check(all_kinds<QkNormConfig>());
  check(all_kinds<LayoutConfig>());
  check(all_kinds<ScaleConfig>());
  check(all_kinds<MatrixInit>());
}

}  // namespace
}  // namespace blockzoo
