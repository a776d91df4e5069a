#include "blockzoo/nn/smaller.h"

#include "blockzoo/nn/model.h"
#include "support/catch.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

const SoftmaxAttentionConfig& softmax(const BlockConfig& block) {
  return std::get<SoftmaxAttentionConfig>(block.attention);
}

int64_t window_of(const BlockConfig& block) { return softmax(block).window; }

TEST_CASE("every size of a Llama is divided, and its ratios stay", "[nn][torch][smaller]") {
  const auto small = smaller(load_model_config("llama3-8b"), 1.0 / 16);
  CHECK(small.width == 256);
  CHECK(small.layers == 2);
  CHECK(small.vocabulary == 8016);
  CHECK(small.context == 512);
  CHECK(softmax(small.block).heads == 8);  // a sixteenth of 32 would leave one group
  CHECK(softmax(small.block).kv_heads == 2);
  CHECK(std::get<GluConfig>(small.block.ffn).hidden == 896);
  CHECK(small.overrides.empty());
}

TEST_CASE("a smaller model keeps the number of heads in a group and heads times width over width",
          "[nn][torch][smaller]") {
  const auto name = GENERATE("palm-540b", "falcon-7b", "qwen3-0.6b", "gemma2-9b", "t5-11b", "command-a", "phi4-14b");
  INFO(name);
  const auto model = load_model_config(name);
  const auto shares = [](const ModelConfig& config) {
    const auto& attention = softmax(config.block);
    return static_cast<double>(attention.heads * attention.width_of_head(config.width)) /
           static_cast<double>(config.width);
  };
  for (const double factor : {0.5, 1.0 / 16, 1.0 / 64}) {
    const auto small = smaller(model, factor);
    CHECK(std::abs(shares(small) / shares(model) - 1) < 0.02);
    const auto& before = softmax(model.block);
    const auto& after = softmax(small.block);
    CHECK((before.key_heads() == before.heads) == (after.key_heads() == after.heads));
    CHECK((before.key_heads() == 1) == (after.key_heads() == 1));
    if (before.key_heads() > 1) CHECK(before.heads / before.key_heads() == after.heads / after.key_heads());
  }
}

TEST_CASE("a smaller model keeps a whole period of its layers", "[nn][torch][smaller]") {
  const auto windows = [](const ModelConfig& config) {
    std::vector<bool> local;
    for (const auto& layer : expand_layers(config)) local.push_back(window_of(layer) > 0);
    return local;
  };
  using Pattern = std::vector<bool>;
  CHECK(windows(tiny(load_model_config("gemma2-2b"))) == Pattern{true, false});
  CHECK(windows(tiny(load_model_config("olmo3-7b"))) == Pattern{true, true, true, false});
  CHECK(windows(tiny(load_model_config("gemma3-4b-text"))) == Pattern{true, true, true, true, true, false});
  CHECK(smaller(load_model_config("gemma3-4b-text"), 0.5).layers == 18);

  const auto model = from_yaml<ModelConfig>(
      "{layers: 20, overrides: [{layers: ':4', block: {norm: {kind: none}}}, {layers: '5::2', block: {ffn: {kind: "
      "mlp}}}]}");
  const auto small = smaller(model, 0.2);  // two of the four layers that come first, then two periods
  CHECK(small.layers == 6);
  const auto layers = expand_layers(small);
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    CHECK(kind_of(layers[layer].norm) == (layer < 2 ? "none" : "rms_norm"));
    CHECK(kind_of(layers[layer].ffn) == (layer < 2 || layer % 2 == 0 ? "glu" : "mlp"));
  }
}

TEST_CASE("a smaller model keeps the layers whose keys and values are reused", "[nn][torch][smaller]") {
  const auto e2b = tiny(load_model_config("gemma4-e2b-text"));
  CHECK(e2b.layers == 10);
  CHECK(e2b.layer_embedding_width == std::llround(256.0 * static_cast<double>(e2b.width) / 1536));
  const auto sources = key_value_sources(expand_layers(resolved(e2b)));
  for (size_t layer = 0; layer < 5; ++layer) CHECK_FALSE(sources[layer].has_value());
  for (size_t layer = 5; layer < 9; ++layer) CHECK(sources[layer] == 3);
  CHECK(sources[9] == 4);
  // Only the second of the first five layers has what the last ones reuse, so all five stay.
  const auto model = from_yaml<ModelConfig>(
      "{layers: 25, overrides: [{layers: [1], block: {attention: {window: 8}}}, {layers: '5:', block: {attention: "
      "{window: 8, reuse_keys_values: true}}}]}");
  CHECK(smaller(model, 0.1).layers == 7);
  CHECK_NOTHROW(resolved(smaller(model, 0.1)));
}

TEST_CASE("windows and distances go with the context", "[nn][torch][smaller]") {
  const auto mistral = tiny(load_model_config("mistral-7b-v0.1"));  // 4096 of 32768
  CHECK(mistral.context == 128);
  CHECK(window_of(mistral.block) == 16);
  CHECK(window_of(tiny(load_model_config("gemma3-1b")).block) == 16);  // an eighth, although it was a 64th
  const auto olmo = expand_layers(smaller(load_model_config("olmo3-7b"), 0.5));
  const auto& rope = std::get<RopePositionConfig>(olmo[3].position);
  CHECK(std::get<YarnRopeScaling>(rope.scaling).original_context == 4096);
  const auto t5 = tiny(load_model_config("t5-small"));
  CHECK(std::get<RelativeBiasPositionConfig>(t5.block.position).max_distance == 32);
}

TEST_CASE("factors of scores and of the stream follow head width and depth", "[nn][torch][smaller]") {
  const auto model = from_yaml<ModelConfig>(
      "{width: 256, layers: 16, block: {residual_scale: 0.25, attention: {heads: 4, scale: 0.25}}}");
  const auto small = smaller(model, 0.25);  // heads of 64 become heads of 32
  CHECK(softmax(small.block).width_of_head(small.width) == 32);
  CHECK(std::abs(*softmax(small.block).scale - 0.25 * std::sqrt(2.0)) < 1e-12);
  CHECK(std::abs(small.block.residual_scale - 0.5) < 1e-12);
  CHECK(softmax(tiny(load_model_config("t5-small")).block).scale == 1.0);
}

TEST_CASE("latent attention keeps the shares of its ranks and widths", "[nn][torch][smaller]") {
  const auto small = smaller(load_model_config("deepseek-v3"), 1.0 / 16);
  const auto& latent = std::get<LatentAttentionConfig>(small.block.attention);
  CHECK(small.width == 448);
  CHECK(latent.heads == 8);
  CHECK(latent.query_rank == 96);
  CHECK(latent.key_value_rank == 32);
  CHECK(latent.nope_width == 128);
  CHECK(latent.rope_width == 64);
  CHECK(latent.value_width == 128);
}

TEST_CASE("a hidden width that was rounded is written out", "[nn][torch][smaller]") {
  const auto rounded = from_yaml<ModelConfig>("{width: 256, block: {attention: {heads: 4}, ffn: {multiple_of: 256}}}");
  CHECK(std::get<GluConfig>(smaller(rounded, 0.5).block.ffn).hidden == 384);
  const auto plain = from_yaml<ModelConfig>("{width: 256, block: {attention: {heads: 4}}}");
  CHECK_FALSE(std::get<GluConfig>(smaller(plain, 0.5).block.ffn).hidden.has_value());
}

}  // namespace
}  // namespace blockzoo
