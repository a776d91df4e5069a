#include "support/golden.h"

#include "blockzoo/nn/model.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

using nlohmann::json;

std::vector<int64_t> shape_of(const json& numbers) { return numbers.get<std::vector<int64_t>>(); }

Tensor input(const json& one, double scale, at::ScalarType type) {
  return (scale * ramp("x", shape_of(one["input"]))).to(type).requires_grad_();
}

/// The module's parameters in `type`, filled, and x beside them.
std::map<std::string, Tensor> prepared(torch::nn::Module& module, at::ScalarType type) {
  module.to(type);
  fill_with_ramp(module);
  return parameters_of(module);
}

/// A position encoding and the part that uses it, so that its parameters have the names that they have in a model.
struct WithPosition : torch::nn::Module {
  WithPosition(const PositionConfig& config, const PositionDims& dims)
      : position(register_module("position", make_position(config, dims))) {}
  Position position;
};

std::map<std::string, Tensor> operator+(std::map<std::string, Tensor> a, const std::map<std::string, Tensor>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

const auto both = {at::kDouble, at::kFloat};

TEST_CASE("every norm equals its formula and its gradients", "[nn][torch][golden][norm]") {
  for (const auto& one : golden("norm")["cases"]) {
    for (const auto type : both) {
      INFO(one["name"] << " in " << type);
      auto norm = make_norm(from_yaml<NormConfig>(one["config"].dump()), shape_of(one["shape"]));
      auto leaves = prepared(*norm, type);
      const auto x = leaves["x"] = input(one, 3, type);
      check_case(one, norm->forward(x), leaves, type);
    }
  }
}

TEST_CASE("every feed-forward sublayer equals PyTorch's activations between matrices", "[nn][torch][golden][ffn]") {
  for (const auto& one : golden("ffn")["cases"]) {
    for (const auto type : both) {
      INFO(one["name"] << " in " << type);
      auto ffn = make_ffn(from_yaml<FfnConfig>(one["config"].dump()), Dims{.model = one["input"][2], .context = 16});
      auto leaves = prepared(*ffn, type);
      const auto x = leaves["x"] = input(one, 3, type);
      check_case(one, ffn->forward(x), leaves, type);
    }
  }
}

TEST_CASE("every position encoding equals its formula where it acts", "[nn][torch][golden][position]") {
  for (const auto& one : golden("position")["cases"]) {
    for (const auto type : both) {
      INFO(one["name"] << " in " << type);
      const auto shape = shape_of(one["input"]);
      const int64_t first = one["first"];
      auto position = make_position(
          from_yaml<PositionConfig>(one["config"].dump()),
          PositionDims{
              .model = shape.back(), .context = one["context"], .heads = one["heads"], .rotary_width = shape.back()});
      auto leaves = prepared(*position, type);
      if (one["hook"] == "bias") {
        check_case(one, position->distance_bias(shape[0]), leaves, type);
        continue;
      }
      const auto x = leaves["x"] = input(one, 1, type);
      check_case(one, one["hook"] == "embed" ? position->embed(x, first) : position->rotate(x, first), leaves, type);
    }
  }
}

TEST_CASE("every attention equals the formula, one head and one query at a time", "[nn][torch][golden][attention]") {
  for (const auto& one : golden("attention")["cases"]) {
    for (const auto type : both) {
      INFO(one["name"] << " in " << type);
      BlockConfig block;
      block.position = from_yaml<PositionConfig>(one["position"].dump());
      block.attention = from_yaml<AttentionConfig>(one["config"].dump());
      const Dims dims{.model = one["input"][2], .context = one["context"]};
      WithPosition around(block.position, position_dims(block, dims));
      auto attention = make_attention(block.attention, dims);
      auto leaves = prepared(around, type) + prepared(*attention, type);
      const auto x = leaves["x"] = input(one, 2, type);
      check_case(one, attention->forward(x, Context{.position = around.position.get()}), leaves, type);
    }
  }
}

TEST_CASE("every layout equals its formula", "[nn][torch][golden][layout]") {
  for (const auto& one : golden("layout")["cases"]) {
    for (const auto type : both) {
      INFO(one["name"] << " in " << type);
      const auto config = from_yaml<BlockConfig>(one["config"].dump());
      const Dims dims{.model = one["input"][2], .context = one["context"]};
      WithPosition around(config.position, position_dims(config, dims));
      auto block = make_block(config, dims);
      auto leaves = prepared(*block, type);
      const auto x = leaves["x"] = input(one, 2, type);
      check_case(one, block->forward(x, Context{.position = around.position.get()}), leaves, type);
    }
  }
}

TEST_CASE("whole small models equal the formula", "[nn][torch][golden][model]") {
  const auto file = golden("tiny_model");
  std::vector<Tensor> rows;
  for (const auto& row : file["tokens"]) rows.push_back(at::tensor(shape_of(row), at::kLong));
  const auto tokens = at::stack(rows);
  for (const auto& one : file["cases"]) {
    for (const auto type : both) {
      if (type == at::kFloat && one["float64_only"]) continue;
      INFO(one["name"] << " in " << type);
      Model model(from_yaml<ModelConfig>(one["config"].dump()));
      const auto leaves = prepared(*model, type);
      check_case(one, model->forward(tokens), leaves, type);
    }
  }
}

}  // namespace
}  // namespace blockzoo
