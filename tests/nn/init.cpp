#include "blockzoo/nn/init.h"

#include <cmath>

#include "blockzoo/nn/model.h"
#include "support/from_yaml.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

std::map<std::string, Tensor> drawn(const std::string& yaml, uint64_t seed = 1) {
  Model model(from_yaml<ModelConfig>("{vocabulary: 256, width: 128, layers: 2, context: 64, " + yaml + "}"));
  model->init_parameters(seed);
  std::map<std::string, Tensor> values;
  for (const auto& [name, parameter] : parameters_of(*model)) values[name] = parameter.detach();
  return values;
}

double deviation(const Tensor& x) { return x.to(at::kDouble).std(/*unbiased=*/false).item<double>(); }

TEST_CASE("a parameter's start values depend on the seed and its name, not on the other parameters",
          "[nn][torch][init]") {
  const auto base = drawn("block: {norm: {kind: none}}");
  for (const std::string other :
       {"block: {norm: {kind: layer_norm}}",
        "block: {norm: {kind: none}, attention: {qk_norm: {kind: head}, query_bias: true}}",
        "block: {norm: {kind: none}}, tied: true",
        "block: {norm: {kind: none}, layout: {kind: post_norm}, position: {kind: learned}}"}) {
    INFO(other);
    const auto values = drawn(other);
    for (const auto& [name, value] : base) {
      if (values.count(name)) check_equal(name, values.at(name), value);
    }
  }
  check_equal("again", drawn("block: {norm: {kind: none}}").at("blocks.1.ffn.up.weight"),
              base.at("blocks.1.ffn.up.weight"));
}

TEST_CASE("different seeds, layers and parts start apart", "[nn][torch][init]") {
  const auto one = drawn("block: {attention: {heads: 8}}", 1), two = drawn("block: {attention: {heads: 8}}", 2);
  std::vector<Tensor> squares;
  for (const auto& values : {one, two}) {
    for (const std::string layer : {"0", "1"}) {
      for (const std::string part : {"query", "key", "value"})
        squares.push_back(values.at("blocks." + layer + ".attention." + part + ".weight").flatten());
    }
  }
  const auto correlation = at::corrcoef(at::stack(squares)) - at::eye(12);
  CHECK(correlation.abs().max().item<double>() < 0.05);  // 16384 values: one sigma is 0.008
}

TEST_CASE("start values have the deviation that the rule names", "[nn][torch][init]") {
  struct Row {
    std::string matrices;
    double up, down;  // up [341, 128], down [128, 341]
  };
  for (const auto& [matrices, up, down] :
       {Row{"{kind: normal, std: 0.05}", 0.05, 0.05}, Row{"{kind: fan_in}", 1 / std::sqrt(128.), 1 / std::sqrt(341.)},
        Row{"{kind: fan_in, gain: 1.4142135623730951}", std::sqrt(2 / 128.), std::sqrt(2 / 341.)},
        Row{"{kind: glorot}", std::sqrt(2 / 469.), std::sqrt(2 / 469.)},
        Row{"{kind: glorot, gain: 0.5}", 0.5 * std::sqrt(2 / 469.), 0.5 * std::sqrt(2 / 469.)}}) {
    INFO(matrices);
    const auto values = drawn("init: {depth_scaled_outputs: false, matrices: " + matrices +
                              ", embeddings: {std: 0.3}, head: {kind: normal, std: 0.07}}");
    CHECK(std::abs(deviation(values.at("blocks.0.ffn.up.weight")) / (up)-1) < 0.02);
    CHECK(std::abs(deviation(values.at("blocks.1.ffn.down.weight")) / (down)-1) < 0.02);
    CHECK(std::abs(deviation(values.at("embedding.weight")) / (0.3) - 1) < 0.02);
    CHECK(std::abs(deviation(values.at("head.weight")) / (0.07) - 1) < 0.02);
    CHECK(std::abs(values.at("blocks.0.ffn.up.weight").mean().item<double>()) < 0.03 * up);
  }
}

TEST_CASE("a cut at k sigma leaves no value beyond it and the shape of the normal within", "[nn][torch][init]") {
  for (const auto& [sigmas, std_after] : {std::pair{1.0, 0.5396}, std::pair{2.0, 0.8796}, std::pair{3.0, 0.9867}}) {
    INFO(sigmas << " sigmas");
    const auto cut = ", cut_sigmas: " + std::to_string(sigmas) + "}";
    const auto values = drawn("init: {depth_scaled_outputs: false, matrices: {kind: normal, std: 0.05" + cut +
                              ", embeddings: {std: 0.05" + cut + "}");
    for (const std::string name : {"blocks.0.ffn.up.weight", "embedding.weight"}) {
      const auto& x = values.at(name);
      CHECK(x.abs().max().item<double>() <= 0.05 * sigmas * (1 + 1e-6));
      CHECK(x.abs().max().item<double>() > 0.05 * sigmas * 0.98);
      CHECK(std::abs(deviation(x) / (0.05 * std_after) - 1) < 0.02);
    }
    CHECK(values.at("head.weight").abs().max().item<double>() > 0.02 * 3.2);  // not cut
  }
}

TEST_CASE("matrices that write to the stream start 1 / sqrt(2 layers) smaller, and no other does",
          "[nn][torch][init]") {
  const std::string layers = "vocabulary: 64, width: 64, layers: 8, context: 64, block: {attention: ";
  for (const std::string attention : {"{kind: softmax}", "{kind: latent, query_rank: 32}"}) {
    Model scaled(from_yaml<ModelConfig>("{" + layers + attention + "}}")),
        plain(from_yaml<ModelConfig>("{" + layers + attention + "}, init: {depth_scaled_outputs: false}}"));
    for (auto* model : {&scaled, &plain}) (*model)->init_parameters(1);
    const auto large = parameters_of(*plain);
    for (const auto& [name, value] : parameters_of(*scaled)) {
      const bool writes = name.ends_with("attention.output.weight") || name.ends_with("ffn.down.weight");
      check_near(name, value, large.at(name) * (writes ? 0.25 : 1), {0, 1e-6});
    }
  }
}

TEST_CASE("a tied table is drawn once, by the rule for embeddings", "[nn][torch][init]") {
  const auto tied = drawn("tied: true, init: {embeddings: {std: 0.3}}"),
             untied = drawn("init: {embeddings: {std: 0.3}}");
  check_equal("table", tied.at("embedding.weight"), untied.at("embedding.weight"));
  CHECK(tied.count("head.weight") == 0);
}

TEST_CASE("norms start at one, offsets and biases at zero, and only matrices and tables are drawn",
          "[nn][torch][init]") {
  const auto values = drawn(
      "block: {norm: {kind: layer_norm}, attention: {query_bias: true, qk_norm: {kind: head, norm: {kind: rms_norm, "
      "unit_offset: true}}}, "
      "ffn: {bias: true}}, embedding_norm: {kind: dynamic_tanh, alpha: 0.7}, final_norm: {kind: scale_norm}, "
      "head_bias: true");
  for (const auto& [name, value] : values) {
    INFO(name);
    const double expected = name.ends_with("alpha")                         ? 0.7
                            : name == "final_norm.gain"                     ? std::sqrt(128.)
                            : name.find("y_norm.gain") != std::string::npos ? 0  // query_norm, key_norm
                            : name.ends_with("gain")                        ? 1
                                                                            : 0;
    if (name.ends_with("weight")) {
      CHECK(deviation(value) > 0);
    } else {
      check_near(name, value, at::full_like(value, expected), {1e-6, 0});
    }
  }
}

}  // namespace
}  // namespace blockzoo
