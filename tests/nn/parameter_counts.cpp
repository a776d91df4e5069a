#include "blockzoo/nn/model.h"
#include "blockzoo/nn/parameter.h"
#include "support/catch.h"
#include "support/from_yaml.h"

namespace blockzoo {
namespace {

TEST_CASE("parameters are counted under the part that they belong to", "[nn][torch][contract][count]") {
  const auto count = count_parameters(load_model_config("gpt2-small"));
  CHECK(count.by_part.at("embedding") == 50257 * 768);
  CHECK(count.by_part.at("position") == 1024 * 768);
  CHECK(count.by_part.at("attention") == 12 * 4 * (768 * 768 + 768));
  CHECK(count.by_part.at("ffn") == 12 * (2 * 768 * 3072 + 3072 + 768));
  CHECK(count.by_part.at("norms") == (2 * 12 + 1) * 2 * 768);
  CHECK(count.by_part.count("head") == 0);
  const auto untied = count_parameters(from_yaml<ModelConfig>(
      "{vocabulary: 11, width: 16, layers: 1, context: 6, embedding_width: 5, head_bias: true}"));
  CHECK(untied.by_part.at("embedding") == 11 * 5 + 16 * 5);
  CHECK(untied.by_part.at("head") == 11 * 5 + 5 * 16 + 11);
}

TEST_CASE("counting takes no memory for parameters, nor for tables of a long context", "[nn][torch][contract][count]") {
  auto config = from_yaml<ModelConfig>(
      "{vocabulary: 1000000, width: 100000, layers: 1000, context: 16777216, block: {attention: {heads: 100}}}");
  for (const auto& position : all_kinds<PositionConfig>()) {
    config.block.position = position;
    INFO(kind_of(position));
    CHECK(count_parameters(config).total > 100'000'000'000'000);
    const BornOn meta(at::kMeta);
    auto small = config;
    small.layers = 1;
    const Model model(small);
    for (const auto& item : model->named_parameters()) CHECK(item.value().is_meta());
    for (const auto& item : model->named_buffers()) CHECK(item.value().is_meta());
  }
}

TEST_CASE("a hidden width from a ratio is cut, then brought to the multiple", "[nn][torch][contract][ffn]") {
  const auto hidden = [](const std::string& ffn, int64_t width) {
    const auto config = from_yaml<FfnConfig>(ffn);
    return std::visit([&]<class Kind>(const Kind& kind) { return kind.resolve(width, Kind::default_ratio); }, config);
  };
  CHECK(hidden("{kind: glu}", 96) == 256);
  CHECK(hidden("{kind: glu}", 512) == 1365);
  CHECK(hidden("{kind: mlp}", 96) == 384);
  CHECK(hidden("{kind: glu, multiple_of: 64}", 512) == 1408);
  CHECK(hidden("{kind: glu, multiple_of: 64, rounding: down}", 512) == 1344);
  CHECK(hidden("{kind: glu, multiple_of: 256}", 4096) == 11008);
  CHECK(hidden("{kind: glu, multiple_of: 64}", 96) == 256);
  CHECK(hidden("{kind: glu, multiple_of: 64, rounding: down}", 8) == 64);
  CHECK(hidden("{kind: mlp, ratio: 3.5}", 10) == 35);
  CHECK(hidden("{kind: mlp, ratio: 0.1}", 5) == 1);
  CHECK(hidden("{kind: mlp, hidden: 7}", 512) == 7);
}

}  // namespace
}  // namespace blockzoo
