#include "blockzoo/nn/model.h"
#include "support/from_yaml.h"
#include "support/near.h"
#include "support/ramp.h"

namespace blockzoo {
namespace {

constexpr Dims block_dims{.model = 8, .context = 16};

/// A block with ramp weights.
struct OneBlock {
  explicit OneBlock(const std::string& layout, const std::string& norm = "rms_norm") {
    const auto config =
        from_yaml<BlockConfig>("{layout: {kind: " + layout + "}, norm: {kind: " + norm +
                               "}, attention: {heads: 2, output_bias: true}, ffn: {hidden: 6, bias: true}}");
    position = make_position(config.position, position_dims(config, block_dims));
    block = make_block(config, block_dims);
    block->to(at::kDouble);
    fill_with_ramp(*block);
  }
  Tensor operator()(const Tensor& x) { return block->forward(x, Context{.position = position.get()}); }
  void zero(const std::string& part) {
    const at::NoGradGuard no_grad;
    for (auto& [name, parameter] : parameters_of(*block)) {
      if (name.starts_with(part)) parameter.zero_();
    }
  }
  Tensor attention(const Tensor& x) {
    return std::dynamic_pointer_cast<AttentionImpl>(block->named_children()["attention"])
        ->forward(x, Context{.position = position.get()});
  }
  Tensor ffn(const Tensor& x) { return std::dynamic_pointer_cast<FfnImpl>(block->named_children()["ffn"])->forward(x); }
  Tensor norm(const std::string& name, const Tensor& x) {
    return std::dynamic_pointer_cast<NormImpl>(block->named_children()[name])->forward(x);
  }

  Position position{nullptr};
  Block block{nullptr};
};

Tensor block_input() { return 2 * ramp("x", {2, 7, 8}); }

TEST_CASE("without norms every layout is a plain residual block", "[nn][torch][identity][layout]") {
  const auto x = block_input();
  for (const std::string layout : {"pre_norm", "post_norm", "double_norm", "output_norm"}) {
    INFO(layout);
    OneBlock layer(layout, "none");
    const auto h = x + layer.attention(x);
    check_near("output", layer(x), h + layer.ffn(h));
  }
  for (const std::string layout : {"parallel", "parallel_two_norms"}) {
    INFO(layout);
    OneBlock layer(layout, "none");
    check_near("output", layer(x), x + layer.attention(x) + layer.ffn(x));
  }
}

TEST_CASE("blocks whose sublayers write nothing are the identity, or post-norm's norms",
          "[nn][torch][identity][layout]") {
  const auto x = block_input();
  for (const auto& layout : all_kinds<LayoutConfig>()) {
    const auto kind = kind_of(layout);
    INFO(kind);
    OneBlock layer(kind);
    layer.zero("attention.output");
    layer.zero("ffn.down");
    if (kind == "post_norm") {
      check_near("output", layer(x), layer.norm("ffn_norm", layer.norm("attention_norm", x)));
    } else {
      check_equal("output", layer(x), x);
    }
  }
}

TEST_CASE("in parallel layouts the feed-forward sublayer does not see the attention", "[nn][torch][identity][layout]") {
  const auto x = block_input();
  for (const std::string layout : {"parallel", "parallel_two_norms"}) {
    INFO(layout);
    OneBlock layer(layout), quiet(layout);
    const auto feeds_attention = layer.norm(layout == "parallel" ? "norm" : "attention_norm", x);
    const auto feeds_ffn = layer.norm(layout == "parallel" ? "norm" : "ffn_norm", x);
    check_near("output", layer(x), x + layer.attention(feeds_attention) + layer.ffn(feeds_ffn));
    quiet.zero("attention.output");
    check_near("without attention", quiet(x), x + layer.ffn(feeds_ffn));
    quiet.zero("ffn.down");
    check_equal("without both", quiet(x), x);
  }
  OneBlock sequential("pre_norm"), parallel("parallel_two_norms");
  CHECK_FALSE(at::allclose(sequential(x), parallel(x)));
}

TEST_CASE("every layout has the norms that its formula names", "[nn][torch][contract][layout]") {
  const std::map<std::string, std::vector<std::string>> expected{
      {"pre_norm", {"attention_norm.gain", "ffn_norm.gain"}},
      {"post_norm", {"attention_norm.gain", "ffn_norm.gain"}},
      {"double_norm", {"attention_norm.gain", "attention_output_norm.gain", "ffn_norm.gain", "ffn_output_norm.gain"}},
      {"output_norm", {"attention_output_norm.gain", "ffn_output_norm.gain"}},
      {"parallel", {"norm.gain"}},
      {"parallel_two_norms", {"attention_norm.gain", "ffn_norm.gain"}}};
  for (const auto& layout : all_kinds<LayoutConfig>()) {
    INFO(kind_of(layout));
    std::vector<std::string> gains;
    for (const auto& [name, parameter] : parameters_of(*OneBlock(kind_of(layout)).block)) {
      if (name.ends_with("gain")) gains.push_back(name);
    }
    CHECK(gains == expected.at(kind_of(layout)));
  }
}

TEST_CASE("dropout acts in training and rests in evaluation", "[nn][torch][identity][model]") {
  const auto tokens = at::arange(16).remainder(13).view({2, 8});
  for (const std::string dropout :
       {"embedding_dropout: 0.5", "block: {dropout: 0.5}", "block: {attention: {dropout: 0.5}}",
        "block: {attention: {kind: latent, dropout: 0.5}}"}) {
    INFO(dropout);
    Model model(from_yaml<ModelConfig>("{vocabulary: 13, width: 16, layers: 2, context: 8, " + dropout + "}"));
    fill_with_ramp(*model);
    const at::NoGradGuard no_grad;
    CHECK_FALSE(at::equal(model->forward(tokens), model->forward(tokens)));
    model->eval();
    check_equal("second evaluation", model->forward(tokens), model->forward(tokens));
    model->train();
    CHECK_FALSE(at::equal(model->forward(tokens), model->forward(tokens)));
  }
}

TEST_CASE("attention dropout keeps the mean of the output", "[nn][torch][identity][attention]") {
  const at::NoGradGuard no_grad;
  at::manual_seed(1);
  auto attention =
      make_attention(from_yaml<AttentionConfig>("{kind: softmax, heads: 2, kv_heads: 1, dropout: 0.25}"), block_dims);
  auto position = make_position(NoPositionConfig{}, {});
  fill_with_ramp(*attention);
  const auto x = block_input().to(at::kFloat);
  const Context context{.position = position.get()};
  auto sum = at::zeros_like(x);
  for (int i = 0; i < 1000; ++i) sum += attention->forward(x, context);
  attention->eval();
  check_near("mean", sum / 1000, attention->forward(x, context), {0.15, 0});
}

}  // namespace
}  // namespace blockzoo
