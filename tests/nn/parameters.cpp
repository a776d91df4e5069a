#include <cmath>

#include "blockzoo/nn/model.h"
#include "support/from_yaml.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

Shapes shapes_of(const torch::nn::Module& module) {
  Shapes shapes;
  for (const auto& [name, parameter] : parameters_of(module)) shapes[name] = parameter.sizes().vec();
  return shapes;
}

TEST_CASE("the default model's parameter names and shapes are frozen", "[nn][torch][contract][model]") {
  // The public contract of checkpoints and of `blockzoo logits`: a change here breaks every stored file.
  Shapes expected{{"embedding.weight", {256, 128}}, {"final_norm.gain", {128}}, {"head.weight", {256, 128}}};
  for (const std::string layer : {"0", "1", "2", "3"}) {
    const auto block = "blocks." + layer + ".";
    for (const std::string name : {"query", "key", "value", "output"})
      expected[block + "attention." + name + ".weight"] = {128, 128};
    expected[block + "attention_norm.gain"] = {128};
    expected[block + "ffn_norm.gain"] = {128};
    expected[block + "ffn.gate.weight"] = {341, 128};
    expected[block + "ffn.up.weight"] = {341, 128};
    expected[block + "ffn.down.weight"] = {128, 341};
  }
  CHECK(shapes_of(*Model(ModelConfig{})) == expected);
}

TEST_CASE("each kind has the parameters that its header lists", "[nn][torch][contract]") {
  constexpr Dims dims{.model = 8, .context = 10};
  const PositionDims needs{.model = 8, .context = 10, .heads = 2, .rotary_width = 4};
  const auto norm = [&](const std::string& yaml) { return shapes_of(*make_norm(from_yaml<NormConfig>(yaml), {2, 4})); };
  CHECK(norm("{kind: rms_norm}") == Shapes{{"gain", {2, 4}}});
  CHECK(norm("{kind: rms_norm, gain: false}").empty());
  CHECK(norm("{kind: layer_norm}") == Shapes{{"bias", {2, 4}}, {"gain", {2, 4}}});
  CHECK(norm("{kind: layer_norm, bias: false}") == Shapes{{"gain", {2, 4}}});
  CHECK(norm("{kind: layer_norm, gain: false}") == Shapes{{"bias", {2, 4}}});
  CHECK(norm("{kind: scale_norm}") == Shapes{{"gain", {2, 1}}});
  CHECK(norm("{kind: dynamic_tanh}") == Shapes{{"alpha", {2, 1}}, {"bias", {2, 4}}, {"gain", {2, 4}}});
  CHECK(norm("{kind: dynamic_tanh, bias: false}") == Shapes{{"alpha", {2, 1}}, {"gain", {2, 4}}});
  CHECK(norm("{kind: none}").empty());

  const auto ffn = [&](const std::string& yaml) { return shapes_of(*make_ffn(from_yaml<FfnConfig>(yaml), dims)); };
  CHECK(ffn("{kind: mlp, hidden: 6}") == Shapes{{"up.weight", {6, 8}}, {"down.weight", {8, 6}}});
  CHECK(ffn("{kind: mlp}") == Shapes{{"up.weight", {32, 8}}, {"down.weight", {8, 32}}});
  CHECK(ffn("{kind: glu, bias: true}") == Shapes{{"gate.weight", {21, 8}},
                                                 {"gate.bias", {21}},
                                                 {"up.weight", {21, 8}},
                                                 {"up.bias", {21}},
                                                 {"down.weight", {8, 21}},
                                                 {"down.bias", {8}}});

  const auto position = [&](const std::string& yaml) {
    return shapes_of(*make_position(from_yaml<PositionConfig>(yaml), needs));
  };
  CHECK(position("{kind: learned, unused_rows: 2}") == Shapes{{"table.weight", {12, 8}}});
  CHECK(position("{kind: relative_bias}") == Shapes{{"table.weight", {32, 2}}});
  for (const std::string kind : {"none", "sinusoidal", "rope", "alibi"})
    CHECK(position("{kind: " + kind + "}").empty());

  const auto attention = [&](const std::string& yaml) {
    return shapes_of(*make_attention(from_yaml<AttentionConfig>(yaml), dims));
  };
  CHECK(
      attention("{kind: softmax, heads: 4, kv_heads: 2, head_width: 3}") ==
      Shapes{{"query.weight", {12, 8}}, {"key.weight", {6, 8}}, {"value.weight", {6, 8}}, {"output.weight", {8, 12}}});
  CHECK(attention("{kind: softmax, heads: 2, query_bias: true, key_bias: true, value_bias: true, output_bias: true}") ==
        Shapes{{"query.weight", {8, 8}},
               {"key.weight", {8, 8}},
               {"value.weight", {8, 8}},
               {"output.weight", {8, 8}},
               {"query.bias", {8}},
               {"key.bias", {8}},
               {"value.bias", {8}},
               {"output.bias", {8}}});
  const auto gains = [&](const std::string& kind) {
    const auto shapes =
        attention("{kind: softmax, heads: 4, kv_heads: 2, head_width: 3, qk_norm: {kind: " + kind + "}}");
    return std::pair{shapes.at("query_norm.gain"), shapes.at("key_norm.gain")};
  };
  using Two = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
  CHECK(gains("head") == Two{{3}, {3}});
  CHECK(gains("head_own") == Two{{4, 3}, {2, 3}});
  CHECK(gains("full") == Two{{12}, {6}});
}

TEST_CASE("a model has only the outer parts that its config asks for", "[nn][torch][contract][model]") {
  const auto outer = [](const std::string& yaml) {
    Shapes shapes;
    for (const auto& [name, shape] : shapes_of(
             *Model(from_yaml<ModelConfig>("{vocabulary: 11, width: 16, layers: 1, context: 6, " + yaml + "}")))) {
      if (!name.starts_with("blocks.")) shapes[name] = shape;
    }
    return shapes;
  };
  CHECK(outer("tied: true") == Shapes{{"embedding.weight", {11, 16}}, {"final_norm.gain", {16}}});
  CHECK(outer("final_norm: {kind: none}, head_bias: true") ==
        Shapes{{"embedding.weight", {11, 16}}, {"head.weight", {11, 16}}, {"head_bias", {11}}});
  CHECK(outer("embedding_width: 5, embedding_norm: {kind: layer_norm}") ==
        Shapes{{"embedding.weight", {11, 5}},
               {"embedding_projection.weight", {16, 5}},
               {"embedding_norm.gain", {16}},
               {"embedding_norm.bias", {16}},
               {"final_norm.gain", {16}},
               {"head_projection.weight", {5, 16}},
               {"head.weight", {11, 5}}});
  CHECK(outer("tied: true, block: {position: {kind: learned}}") ==
        Shapes{{"embedding.weight", {11, 16}}, {"position.table.weight", {6, 16}}, {"final_norm.gain", {16}}});
}

TEST_CASE("a tied head is the token table itself", "[nn][torch][identity][model]") {
  const std::string dims = "{vocabulary: 11, width: 16, layers: 2, context: 6, ";
  Model tied(from_yaml<ModelConfig>(dims + "tied: true}")), untied(from_yaml<ModelConfig>(dims + "tied: false}"));
  CHECK(count_parameters(untied->config()).total - count_parameters(tied->config()).total == 11 * 16);
  for (auto* model : {&tied, &untied}) (*model)->init_parameters(3);
  const auto tokens = at::tensor({1, 2, 3}).view({1, 3});
  auto table = parameters_of(*tied).at("embedding.weight");
  {
    const at::NoGradGuard no_grad;
    parameters_of(*untied).at("head.weight").copy_(table);
    check_equal("logits", tied->forward(tokens), untied->forward(tokens));
  }
  // Token 10 is never read: its row moves by the head alone. Token 1's row moves by both.
  tied->forward(tokens).square().sum().backward();
  untied->forward(tokens).square().sum().backward();
  check_near("gradient", table.grad(),
             parameters_of(*untied).at("embedding.weight").grad() + parameters_of(*untied).at("head.weight").grad());
  CHECK(table.grad()[10].ne(0).any().item<bool>());
  for (const auto type : {at::kDouble, at::kFloat}) {
    tied->to(type);
    const at::NoGradGuard no_grad;
    const auto before = tied->forward(tokens);
    parameters_of(*tied).at("embedding.weight")[10].add_(1);  // still shared after a change of type
    CHECK_FALSE(at::equal(tied->forward(tokens).select(2, 10), before.select(2, 10)));
    check_equal("other logits", tied->forward(tokens).slice(2, 0, 10), before.slice(2, 0, 10));
  }
}

TEST_CASE("the embedding scale touches the lookup and not a tied head, and is not rounded",
          "[nn][torch][identity][model]") {
  const at::NoGradGuard no_grad;
  const std::string rest =
      "vocabulary: 11, width: 3072, layers: 1, context: 6, tied: true, block: {norm: {kind: none}, attention: {heads: "
      "2, head_width: 2}, ffn: {hidden: 2}}";
  Model scaled(from_yaml<ModelConfig>("{" + rest + ", embedding_scale: {kind: sqrt_width}}"));
  parameters_of(*scaled).at("embedding.weight").copy_(ramp("e", {11, 3072}));  // the block's matrices start at zero
  scaled->to(at::kDouble);
  const auto table = parameters_of(*scaled).at("embedding.weight");
  const auto tokens = at::tensor({4, 7}).view({1, 2});
  check_near("logits", scaled->forward(tokens)[0], std::sqrt(3072.0) * at::mm(table.index({tokens[0]}), table.t()));
}

TEST_CASE("one table of relative biases serves every layer and is counted once", "[nn][torch][identity][model]") {
  auto config = from_yaml<ModelConfig>(
      "{vocabulary: 11, width: 8, layers: 3, context: 6, block: {position: {kind: relative_bias}, attention: {heads: "
      "2}}}");
  const auto count = count_parameters(config);
  CHECK(count.by_part.at("position") == 32 * 2);
  Model model(config);
  CHECK(parameters_of(*model).at("position.table.weight").numel() == 32 * 2);
  config.overrides = from_yaml<std::vector<LayerOverride>>("[{layers: [1], block: {attention: {window: 2}}}]");
  CHECK(count_parameters(config).by_part.at("position") == 32 * 2);
}

TEST_CASE("every layer has relative positions of Transformer-XL of its own", "[nn][torch][identity][model]") {
  const auto config = from_yaml<ModelConfig>(
      "{vocabulary: 11, width: 8, layers: 2, context: 6, block: {position: {kind: transformer_xl}, attention: {heads: "
      "2}}}");
  Model model(config);
  const auto parameters = parameters_of(*model);
  CHECK(parameters.count("position.projection.weight") == 0);
  for (const std::string layer : {"position_0.", "position_1."}) {
    CHECK(parameters.at(layer + "projection.weight").sizes() == at::IntArrayRef{8, 8});
    for (const std::string bias : {"content_bias.weight", "position_bias.weight"})
      CHECK(parameters.at(layer + bias).sizes() == at::IntArrayRef{2, 4});
  }
  const auto without = from_yaml<ModelConfig>(
      "{vocabulary: 11, width: 8, layers: 2, context: 6, block: {position: {kind: none}, attention: {heads: 2}}}");
  const auto more =
      count_parameters(config).by_part.at("attention") - count_parameters(without).by_part.at("attention");
  CHECK(more == 2 * (8 * 8 + 2 * 8));
}

TEST_CASE("a layer that reuses keys and values has no matrices for them, and gets those of its source",
          "[nn][torch][identity][model]") {
  const auto config = from_yaml<ModelConfig>(
      "{vocabulary: 11, width: 8, layers: 3, context: 6, block: {attention: {heads: 2, value_norm: {kind: rms_norm}}}, "
      "overrides: [{layers: [1], block: {attention: {window: 2}}}, {layers: [2], block: {attention: "
      "{reuse_keys_values: true}}}]}");
  const auto sources = key_value_sources(expand_layers(config));
  CHECK(sources == std::vector<std::optional<size_t>>{std::nullopt, std::nullopt, 0});
  Model model(config);
  fill_with_ramp(*model);
  const auto parameters = parameters_of(*model);
  for (const std::string part : {"key.weight", "value.weight", "value_norm.gain"}) {
    CHECK(parameters.count("blocks.0.attention." + part) == 1);
    CHECK(parameters.count("blocks.2.attention." + part) == 0);
  }
  // Layer 2 alone moves with the keys of layer 0 when what layer 0 itself writes is off.
  const at::NoGradGuard no_grad;
  const auto tokens = at::tensor({1, 2, 3, 4}).view({1, 4});
  parameters.at("blocks.0.attention.output.weight").zero_();
  const auto before = model->forward(tokens);
  parameters.at("blocks.0.attention.key.weight").mul_(-1);
  CHECK_FALSE(at::allclose(model->forward(tokens), before));
}

TEST_CASE("an override of positions acts on its layers only", "[nn][torch][identity][model]") {
  const at::NoGradGuard no_grad;
  const std::string dims =
      "{vocabulary: 11, width: 8, layers: 2, context: 6, block: {attention: {heads: 2}, position: ";
  Model nope(from_yaml<ModelConfig>(dims + "{kind: none}}}"));
  Model rope(from_yaml<ModelConfig>(dims + "{kind: rope}}}"));
  Model mixed(
      from_yaml<ModelConfig>(dims + "{kind: rope}}, overrides: [{layers: [1], block: {position: {kind: none}}}]}"));
  Model all(
      from_yaml<ModelConfig>(dims + "{kind: rope}}, overrides: [{layers: '0:', block: {position: {kind: none}}}]}"));
  const auto tokens = at::tensor({1, 2, 3, 4, 5, 6}).view({1, 6});
  for (auto* model : {&nope, &rope, &mixed, &all}) fill_with_ramp(**model);
  check_equal("every layer overridden", all->forward(tokens), nope->forward(tokens));
  CHECK_FALSE(at::allclose(mixed->forward(tokens), nope->forward(tokens)));
  CHECK_FALSE(at::allclose(mixed->forward(tokens), rope->forward(tokens)));
}

}  // namespace
}  // namespace blockzoo
