#include "blockzoo/nn/block.h"
#include "support/from_yaml.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

constexpr Dims dims{.model = 8, .context = 16};

/// An attention with ramp weights and the position encoding that its layer would have.
struct Layer {
  explicit Layer(const std::string& attention_yaml, const std::string& position_yaml = "{kind: none}") {
    BlockConfig block;
    block.attention = from_yaml<AttentionConfig>(attention_yaml);
    block.position = from_yaml<PositionConfig>(position_yaml);
    position = make_position(block.position, position_dims(block, dims));
    attention = make_attention(block.attention, dims);
    attention->to(at::kDouble);
    fill_with_ramp(*attention);
  }
  Tensor operator()(const Tensor& x) { return attention->forward(x, Context{.position = position.get()}); }
  Tensor& weight(const std::string& name) { return weights[name] = parameters_of(*attention).at(name + ".weight"); }

  Position position{nullptr};
  Attention attention{nullptr};
  std::map<std::string, Tensor> weights;
};

Tensor stream() { return 2 * ramp("x", {2, 7, 8}); }

/// Each head's rows [heads, K, D] repeated `times` times in place.
Tensor repeated(const Tensor& weight, int64_t heads, int64_t times) {
  return weight.view({heads, -1, weight.size(1)}).repeat_interleave(times, 0).reshape({-1, weight.size(1)});
}

TEST_CASE("keys as values are a value projection that equals the key projection", "[nn][torch][identity][attention]") {
  const at::NoGradGuard no_grad;
  const std::string rest =
      ", heads: 4, kv_heads: 2, head_width: 4, qk_norm: {kind: head}, value_norm: {kind: rms_norm}}";
  Layer one("{kind: softmax, keys_as_values: true" + rest, "{kind: rope}"),
      two("{kind: softmax" + rest, "{kind: rope}");
  two.weight("value").copy_(two.weight("key"));
  check_equal("output", one(stream()), two(stream()));
}

TEST_CASE("a norm of values makes the output blind to the values' scale", "[nn][torch][identity][attention]") {
  const at::NoGradGuard no_grad;
  Layer softmax("{kind: softmax, heads: 2, value_norm: {kind: rms_norm, eps: 1e-12}}");
  const auto before = softmax(stream());
  softmax.weight("value").mul_(3);
  check_near("output", softmax(stream()), before);
}

TEST_CASE("grouped attention equals multi-head attention with every key head repeated",
          "[nn][torch][identity][attention]") {
  const at::NoGradGuard no_grad;
  for (const int64_t groups : {1, 2, 4}) {
    for (const std::string extra : {"", ", softcap: 1.0", ", window: 3", ", softcap: 1.0, window: 2"}) {
      INFO(groups << " key heads" << extra);
      const auto heads = "{kind: softmax, heads: 4, head_width: 4, kv_heads: ";
      Layer grouped(heads + std::to_string(groups) + extra + "}", "{kind: rope}"),
          full(heads + std::string("4") + extra + "}", "{kind: rope}");
      for (const auto* name : {"key", "value"})
        full.weight(name).copy_(repeated(grouped.weight(name), groups, 4 / groups));
      for (const auto* name : {"query", "output"}) full.weight(name).copy_(grouped.weight(name));
      check_near("output", grouped(stream()), full(stream()));
    }
  }
}

TEST_CASE("query heads 0 and 1 read key head 0, and 2 and 3 read key head 1", "[nn][torch][identity][attention]") {
  const at::NoGradGuard no_grad;
  for (const std::string extra : {"", ", softcap: 1.0"}) {
    Layer layer("{kind: softmax, heads: 4, kv_heads: 2, head_width: 2" + extra + "}");
    layer.weight("value").zero_();
    layer.weight("value").slice(0, 0, 2).select(1, 0).fill_(1);  // key head 0 answers x[0], key head 1 x[1]
    layer.weight("value").slice(0, 2, 4).select(1, 1).fill_(1);
    layer.weight("output").copy_(at::eye(8, at::kDouble));
    auto x = at::zeros({1, 5, 8}, at::kDouble);
    x.select(2, 0).fill_(3);
    x.select(2, 1).fill_(7);
    check_near("output", layer(x)[0][4], at::tensor({3., 3., 3., 3., 7., 7., 7., 7.}));
  }
}

TEST_CASE("a window of W sees exactly the keys max(0, i - W + 1) to i", "[nn][torch][identity][attention]") {
  const at::NoGradGuard no_grad;
  // One-hot values show which keys each query used. A soft cap takes the other path through attention.
  for (const std::string path : {"", ", softcap: 5.0"}) {
    for (const int64_t window : {0, 1, 2, 4, 9, 10, 11, 50}) {
      INFO("window " << window << path);
      auto attention = make_attention(
          from_yaml<AttentionConfig>("{kind: softmax, heads: 1, window: " + std::to_string(window) + path + "}"),
          Dims{.model = 10, .context = 16});
      attention->to(at::kDouble);
      fill_with_ramp(*attention);
      auto weights = parameters_of(*attention);
      for (const auto* name : {"value.weight", "output.weight"}) weights.at(name).copy_(at::eye(10, at::kDouble));
      auto position = make_position(NoPositionConfig{}, {});
      const auto y = attention->forward(at::eye(10, at::kDouble).unsqueeze(0), Context{.position = position.get()})[0];
      const auto back = at::arange(10).unsqueeze(1) - at::arange(10);  // i - j
      const auto expected = back.ge(0).logical_and(back.lt(window > 0 ? window : 10));
      CHECK(at::equal(y > 1e-12, expected));
      check_near("sum of weights", y.sum(1), at::ones({10}, at::kDouble));
    }
  }
}

TEST_CASE("a window as long as the sequence is full attention, bit for bit", "[nn][torch][identity][attention]") {
  for (const std::string kind : {"{kind: softmax, heads: 2", "{kind: latent, heads: 2"}) {
    for (const std::string extra : {"", ", softcap: 1.0"}) {
      for (const std::string position : {"{kind: rope}", "{kind: alibi}"}) {
        Layer full(kind + extra + "}", position);
        for (const int64_t window : {7, 8, 100}) {
          Layer windowed(kind + extra + ", window: " + std::to_string(window) + "}", position);
          check_equal("output", windowed(stream()), full(stream()));
        }
        Layer narrow(kind + extra + ", window: 6}", position);
        CHECK_FALSE(at::equal(narrow(stream()), full(stream())));
      }
    }
  }
}

TEST_CASE("a very large soft cap equals none, and a small one does not", "[nn][torch][identity][attention]") {
  for (const std::string kind : {"{kind: softmax, heads: 2, softcap: ", "{kind: latent, heads: 2, softcap: "}) {
    Layer none(kind + "0}"), large(kind + "1e7}"), small(kind + "0.5}");
    check_near("output", large(stream()), none(stream()));
    CHECK_FALSE(at::allclose(small(stream()), none(stream()), 1e-3, 1e-3));
  }
}

TEST_CASE("with one token, attention is the value and output projections", "[nn][torch][identity][attention]") {
  Layer layer("{kind: softmax, heads: 2}", "{kind: rope}");
  const auto x = stream().slice(1, 0, 1);
  check_near("output", layer(x), at::linear(at::linear(x, layer.weight("value")), layer.weight("output")));
}

TEST_CASE("latent attention's parts are as wide as the config says", "[nn][torch][identity][attention]") {
  for (const std::string rank : {"0", "5"}) {
    Layer layer("{kind: latent, heads: 3, query_rank: " + rank +
                    ", key_value_rank: 7, nope_width: 4, rope_width: 2, value_width: 6}",
                "{kind: rope}");
    std::map<std::string, std::vector<int64_t>> expected{{"key_value_down.weight", {7 + 2, 8}},
                                                         {"key_value_norm.gain", {7}},
                                                         {"key_value_up.weight", {3 * (4 + 6), 7}},
                                                         {"output.weight", {8, 3 * 6}}};
    if (rank == "0") {
      expected["query.weight"] = {3 * (4 + 2), 8};
    } else {
      expected["query_down.weight"] = {5, 8};
      expected["query_norm.gain"] = {5};
      expected["query_up.weight"] = {3 * (4 + 2), 5};
    }
    std::map<std::string, std::vector<int64_t>> actual;
    for (const auto& [name, parameter] : parameters_of(*layer.attention)) actual[name] = parameter.sizes().vec();
    CHECK(actual == expected);
  }
}

TEST_CASE("latent attention rotates its rotary part only", "[nn][torch][identity][attention]") {
  const at::NoGradGuard no_grad;
  const std::string config =
      "{kind: latent, heads: 2, key_value_rank: 7, nope_width: 4, rope_width: 2, value_width: 6}";
  Layer turning(config, "{kind: rope}"), still(config);
  CHECK_FALSE(at::allclose(turning(stream()), still(stream())));
  for (auto* layer : {&turning, &still}) layer->weight("key_value_down").slice(0, 7).zero_();  // the shared rotary key
  check_near("output without the rotary key", turning(stream()), still(stream()));
}

TEST_CASE("attention in half precision stays near attention in float32", "[nn][torch][identity][attention]") {
  const at::NoGradGuard no_grad;
  const auto x = 2 * ramp("x", {2, 64, 8});
  for (const std::string attention : {"{kind: softmax, heads: 2}", "{kind: softmax, heads: 2, softcap: 5.0, window: 9}",
                                      "{kind: latent, heads: 2}"}) {
    for (const std::string position : {"{kind: none}", "{kind: rope}", "{kind: alibi}", "{kind: relative_bias}"}) {
      for (const auto type : {at::kBFloat16, at::kHalf}) {
        INFO(attention << " with " << position << " in " << type);
        BlockConfig block;
        block.attention = from_yaml<AttentionConfig>(attention);
        block.position = from_yaml<PositionConfig>(position);
        const Dims longer{.model = 8, .context = 64};
        auto module = make_attention(block.attention, longer);
        auto encoding = make_position(block.position, position_dims(block, longer));
        fill_with_ramp(*module);
        fill_with_ramp(*encoding);
        const auto wide = module->forward(x.to(at::kFloat), Context{.position = encoding.get()});
        module->to(type);
        encoding->to(type);
        const auto y = module->forward(x.to(type), Context{.position = encoding.get()});
        check_near("output", y, wide, {type == at::kHalf ? 0.01 : 0.08, 0.02});
      }
    }
  }
}

}  // namespace
}  // namespace blockzoo
