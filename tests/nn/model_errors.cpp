#include "blockzoo/nn/model.h"
#include "support/catch.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

struct Row {
  std::string yaml;
  std::vector<std::string> says;
};

void check_refused(const std::vector<Row>& rows) {
  for (const auto& [yaml, says] : rows) {
    INFO(yaml);
    const auto problems = problems_in<ModelConfig>(yaml);
    INFO(problems);
    for (const auto& text : says) CHECK_THAT(problems, ContainsSubstring(text));
  }
}

TEST_CASE("head counts that do not fit are refused by name", "[nn][error]") {
  check_refused({
      {"width: 100\nblock: {attention: {heads: 8}}",
       {"test.yaml:2: block.attention.heads: ", "8", "does not divide width 100"}},
      {"width: 100\nblock: {attention: {kind: latent, heads: 8}}",
       {"block.attention.heads", "does not divide width 100"}},
      {"width: 4\nblock: {attention: {heads: 8}}", {"block.attention.heads", "does not divide width 4"}},
      {"block: {attention: {heads: 8, kv_heads: 3}}", {"block.attention.kv_heads: must divide heads, which is 8"}},
      {"block: {attention: {heads: 4, kv_heads: 8}}", {"block.attention.kv_heads: must divide heads, which is 4"}},
      {"block: {attention: {heads: 0}}", {"block.attention.heads: is 0; must be from 1 to 16777216"}},
      {"block: {attention: {kv_heads: 0}}", {"block.attention.kv_heads: is 0; must be from 1 to 16777216"}},
  });
  CHECK(problems_in<ModelConfig>("width: 100\nblock: {attention: {heads: 8, head_width: 16}}").empty());
  CHECK(problems_in<ModelConfig>(
            "width: 100\nblock: {attention: {kind: latent, heads: 8, nope_width: 16, value_width: 8}}")
            .empty());
}

TEST_CASE("keys and values that no earlier layer has, and a bias that nothing uses, are refused by name",
          "[nn][error]") {
  const std::string heads = "width: 64\nlayers: 3\nblock: {attention: {heads: 4";
  const std::string reuse = "block: {attention: {reuse_keys_values: true";
  check_refused({
      {heads + ", reuse_keys_values: true}}",
       {"block.attention.reuse_keys_values", "finds no layer before layer 0", "equal attention and position"}},
      {heads + "}}\noverrides: [{layers: [2], " + reuse + ", window: 8}}}]",
       {"overrides.0.block.attention.reuse_keys_values", "finds no layer before layer 2"}},
      {heads + "}}\noverrides: [{layers: [2], " + reuse + "}, position: {kind: none}}}]",
       {"overrides.0.block.attention.reuse_keys_values", "finds no layer before layer 2"}},
      {heads + ", keys_as_values: true, value_bias: true}}",
       {"block.attention.value_bias: has no effect when keys_as_values is true"}},
  });
  CHECK(problems_in<ModelConfig>(heads + "}}\noverrides: [{layers: [1, 2], " + reuse + ", kv_heads: 4}}}]").empty());
}

TEST_CASE("rotary widths that are odd, zero or not whole are refused by name", "[nn][error]") {
  const std::string heads = "width: 64\nblock: {attention: {heads: 4}, position: ";  // K = 16
  check_refused({
      {heads + "{rotary_fraction: 0.3}}", {"block.position.rotary_fraction", "4.8", "of 16", "even whole number"}},
      {heads + "{rotary_fraction: 0.0625}}", {"block.position.rotary_fraction", "of 16"}},
      {heads + "{rotary_fraction: 0.1875}}", {"block.position.rotary_fraction", "of 16"}},
      {heads + "{rotary_fraction: 0}}", {"block.position.rotary_fraction: is 0; must be above 0 and at most 1"}},
      {heads + "{rotary_fraction: 1.5}}", {"block.position.rotary_fraction: is 1.5; must be above 0 and at most 1"}},
      {"width: 12\nblock: {attention: {heads: 4}}", {"block.position.rotary_fraction", "of 3"}},
      {"block: {attention: {kind: latent, rope_width: 3}}", {"block.position.rotary_fraction", "of 3"}},
  });
  CHECK(problems_in<ModelConfig>("width: 12\nblock: {attention: {heads: 4}, position: {kind: alibi}}").empty());
}

TEST_CASE("a share of still pairs that stops none or all is refused", "[nn][error]") {
  const std::string heads = "width: 64\nblock: {attention: {heads: 4}, position: ";  // 8 pairs
  check_refused(
      {{heads + "{still_fraction: 0.05}}", {"block.position.still_fraction", "8 pairs"}},
       {heads + "{still_fraction: 0.95}}", {"block.position.still_fraction", "8 pairs"}},
       {heads + "{still_fraction: 1}}", {"block.position.still_fraction: is 1; must be 0 or more and below 1"}}});
  CHECK(problems_in<ModelConfig>(heads + "{still_fraction: 0.125}}").empty());
  CHECK(problems_in<ModelConfig>(heads + "{still_fraction: 0.875}}").empty());
}

TEST_CASE("values that would do nothing are refused", "[nn][error]") {
  check_refused({
      {"block: {ffn: {hidden: 64, ratio: 4}}", {"block.ffn.ratio: has no effect when hidden is given"}},
      {"block: {ffn: {hidden: 64, multiple_of: 8}}", {"block.ffn.multiple_of: has no effect when hidden is given"}},
      {"block: {ffn: {rounding: down}}", {"block.ffn.rounding: has no effect when multiple_of is 1"}},
      {"block: {norm: {gain: false, unit_offset: true}}", {"block.norm.unit_offset: has no effect when gain is off"}},
      {"block: {norm: {kind: layer_norm, gain: false, unit_offset: true}}", {"block.norm.unit_offset: has no effect"}},
      {"block: {attention: {qk_norm: {kind: head, norm: {kind: none}}}}", {"block.attention.qk_norm.norm: is none"}},
      {"tied: true\ninit: {head: {std: 0.5}}", {"test.yaml:2: init.head", "has no effect when tied is true"}},
      {"block: {position: {scaling: {kind: linear, factor: 1}}}", {"block.position.scaling.factor", "changes nothing"}},
      {"block: {position: {scaling: {kind: yarn, factor: 1}}}", {"block.position.scaling.factor", "changes nothing"}},
      {"block: {position: {scaling: {kind: llama3, factor: 1}}}", {"block.position.scaling.factor", "changes nothing"}},
  });
}

TEST_CASE("caps, scales and windows outside their range are refused", "[nn][error]") {
  check_refused({
      {"block: {attention: {softcap: -1}}", {"block.attention.softcap: is -1; must be 0 or more"}},
      {"block: {attention: {softcap: .inf}}", {"block.attention.softcap: must be a decimal number"}},
      {"final_softcap: -30", {"final_softcap: is -30; must be 0 or more"}},
      {"final_softcap: .inf", {"final_softcap: must be a decimal number"}},
      {"block: {attention: {window: -1}}", {"block.attention.window: is -1; must be 0 or more"}},
      {"block: {attention: {window: 2.5}}", {"block.attention.window: must be a whole"}},
      {"block: {attention: {scale: 0}}", {"block.attention.scale: is 0; must be a number above 0"}},
      {"block: {attention: {dropout: 1}}", {"block.attention.dropout: is 1; must be 0 or more and below 1"}},
      {"block: {norm: {eps: 0}}", {"block.norm.eps: is 0; must be a number above 0"}},
      {"block: {position: {kind: relative_bias, buckets: 7}}", {"block.position.buckets: must be even"}},
      {"block: {position: {kind: relative_bias, buckets: 32, max_distance: 16}}",
       {"block.position.max_distance: must be above buckets / 2"}},
      {"block: {position: {scaling: {kind: yarn, factor: 4, beta_fast: 1, beta_slow: 2}}}",
       {"beta_fast: must be above beta_slow"}},
      {"embedding_width: 200\nwidth: 128", {"test.yaml:1: embedding_width: is above width, which is 128"}},
  });
}

TEST_CASE("keys of another kind and unknown kinds are refused with the ones allowed", "[nn][error]") {
  check_refused({
      {"block: {attention: {kind: latent, kv_heads: 2}}",
       {"block.attention.kv_heads: does not apply to kind latent; it is a key of: softmax"}},
      {"block: {norm: {kind: scale_norm, gain: false}}",
       {"block.norm.gain: does not apply to kind scale_norm; it is a key of: rms_norm, layer_norm"}},
      {"block: {norm: {kind: rmsnorm}}",
       {"block.norm.kind: no 'rmsnorm'", "rms_norm, layer_norm, scale_norm, dynamic_tanh, none",
        "did you mean 'rms_norm'?"}},
      {"block: {ffn: {activation: swish}}", {"block.ffn.activation: is 'swish'; one of: relu, gelu"}},
      {"block: {norm: none}", {"block.norm: must be a map with a kind"}},
  });
}

TEST_CASE("overrides that name no layer, change nothing or cannot differ by layer are refused", "[nn][error]") {
  const auto one = [](const std::string& layers, const std::string& block) {
    return "layers: 4\noverrides:\n  - {layers: " + layers + ", block: " + block + "}\n";
  };
  const std::string window = "{attention: {window: 8}}";
  check_refused({
      {one("[4]", window), {"test.yaml:3: overrides.0.layers: names layer 4, but the model has layers 0 to 3"}},
      {one("[-5]", window), {"overrides.0.layers: names layer -5"}},
      {one("'4:'", window), {"overrides.0.layers: names no layer of 4"}},
      {one("'3:1'", window), {"overrides.0.layers: names no layer of 4"}},
      {one("[]", window), {"overrides.0.layers: must be a list of layers"}},
      {one("2", window), {"overrides.0.layers: must be a list of layers"}},
      {one("all", window), {"overrides.0.layers: must be a list of layers"}},
      {one("'::0'", window), {"overrides.0.layers: has step 0; a step is 1 or more"}},
      {one("'::-1'", window), {"overrides.0.layers: has step -1"}},
      {one("'0:1:1:1'", window), {"overrides.0.layers: must be a list of layers"}},
      {one("[1.5]", window), {"overrides.0.layers: must be a list of layers"}},
      {one("[0]", "{}"), {"overrides.0.block: must be a map"}},
      {one("[0]", "{attention: {window: 0}}"), {"overrides.0.block: changes nothing in layer 0"}},
      {one("[0]", "{attention: {heads: 8}, dropout: 0.0}"), {"overrides.0.block: changes nothing in layer 0"}},
      {one("[0]", "{attention: {kv_heads: 8}}"), {"overrides.0.block: changes nothing in layer 0"}},
      {one("[0]", "{atention: {window: 8}}"), {"overrides.0.block.atention: no such key", "did you mean 'attention'?"}},
      {one("[0]", "{attention: {windows: 8}}"), {"overrides.0.block.attention.windows: no such key"}},
      {one("[0]", "{attention: {heads: 3}}"), {"overrides.0.block", "attention.heads", "does not divide width 128"}},
      {one("[0]", "{attention: {kv_heads: 3}}"), {"overrides.0.block.attention.kv_heads: must divide heads"}},
      {one("[0]", "{position: {kind: learned}}"), {"overrides.0.block.position: acts on the embedding"}},
      {one("[1, 2]", "{position: {rotary_fraction: 0.3}}"), {"position.rotary_fraction", "layer 1"}},
      {"layers: 4\nblock: {position: {kind: learned}}\noverrides: [{layers: [0], block: {position: {kind: none}}}]",
       {"overrides.0.block.position", "changes nothing"}},
  });
  // The second of two entries is judged on top of the first.
  check_refused(
      {{"layers: 4\noverrides: [{layers: ':', block: {attention: {window: 8}}}, {layers: [1], block: {attention: "
        "{window: 8}}}]",
        {"overrides.1.block: changes nothing in layer 1"}}});
}

TEST_CASE("layers are chosen by list or by start:stop:step, counted from either end", "[nn][contract]") {
  const auto windowed = [](const std::string& layers) {
    const auto config = read_config<ModelConfig>(
        parse_yaml("layers: 6\noverrides: [{layers: " + layers + ", block: {attention: {window: 8}}}]", "test.yaml"));
    std::string which;
    for (const auto& block : expand_layers(config))
      which += std::get<SoftmaxAttentionConfig>(block.attention).window == 8 ? 'w' : '.';
    return which;
  };
  CHECK(windowed("[0, 3]") == "w..w..");
  CHECK(windowed("[-1]") == ".....w");
  CHECK(windowed("'::2'") == "w.w.w.");
  CHECK(windowed("'1::2'") == ".w.w.w");
  CHECK(windowed("'2:4'") == "..ww..");
  CHECK(windowed("':-1'") == "wwwww.");
  CHECK(windowed("'-2:'") == "....ww");
  CHECK(windowed("':'") == "wwwwww");
  CHECK(windowed("'4:100'") == "....ww");
}

TEST_CASE("auto values of an overridden layer follow the override", "[nn][torch][contract][model]") {
  const auto shape = [](const std::string& override, const std::string& name) {
    Model model(from_yaml<ModelConfig>(
        "{width: 32, layers: 2, context: 8, block: {attention: {heads: 4}}, overrides: [{layers: [1], block: " +
        override + "}]}"));
    return model->named_parameters()["blocks.1." + name].sizes().vec();
  };
  using Shape = std::vector<int64_t>;
  CHECK(shape("{attention: {heads: 2}}", "attention.key.weight") == Shape{32, 32});
  CHECK(shape("{attention: {heads: 8, head_width: 2}}", "attention.key.weight") == Shape{16, 32});
  CHECK(shape("{attention: {heads: 8}}", "attention.key.weight") == Shape{32, 32});
  CHECK(shape("{ffn: {ratio: 2}}", "ffn.up.weight") == Shape{64, 32});
  CHECK(shape("{ffn: {kind: mlp}}", "ffn.up.weight") == Shape{128, 32});
  const auto scale = [](const std::string& override) {
    const auto config = from_yaml<ModelConfig>(
        "{width: 32, layers: 2, context: 8, block: {attention: {heads: 4}}, overrides: [{layers: [1], block: " +
        override + "}]}");
    return *std::get<SoftmaxAttentionConfig>(expand_layers(resolved(config))[1].attention).scale;
  };
  CHECK(scale("{attention: {head_width: 4}}") == 0.5);
  CHECK(scale("{attention: {heads: 2}}") == 0.25);
}

TEST_CASE("a model refuses sequences that it has no positions for, and ids that it has no row for",
          "[nn][torch][error]") {
  Model model(
      from_yaml<ModelConfig>("{vocabulary: 11, width: 8, layers: 1, context: 4, block: {attention: {heads: 2}}}"));
  CHECK_NOTHROW(model->forward(at::zeros({1, 4}, at::kLong)));
  CHECK_THROWS_WITH(model->forward(at::zeros({1, 5}, at::kLong)),
                    ContainsSubstring("5 tokens are longer than the context, 4"));
  CHECK_THROWS_WITH(model->forward(at::zeros({4}, at::kLong)), ContainsSubstring("tokens must be [B, T]"));
  CHECK_THROWS_WITH(model->forward(at::full({1, 4}, 11, at::kLong)), ContainsSubstring("11"));
  CHECK_THROWS_WITH(model->forward(at::full({1, 4}, -3, at::kLong)), ContainsSubstring("-3"));
}

}  // namespace
}  // namespace blockzoo
