#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void shared(ConfigMap& map, const Stack& stack, BlockConfig& block) {
  auto& heads = attention(map, stack, block);
  four_biases(map, heads);
  map.same("attention_dropout", heads.dropout, 0.0);
  glu(map, block);
}

/// Layer norm without parameters.
void bare_norm(ConfigMap& map, NormConfig& norm) {
  auto& layer = map.kind<LayerNormConfig>(norm);
  map.implied(layer.eps, 1e-5);
  map.implied(layer.gain, false);
  map.implied(layer.bias, false);
}

void olmo(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  bare_norm(map, final_norm(stack));
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    bare_norm(map, block.norm);
    shared(map, stack, block);
    rotary(map, stack, block);
  });
  map.always("clip_qkv", nullptr);
}

void output_norms(ConfigMap& map, const Stack& stack, BlockConfig& block) {
  map.kind<OutputNormConfig>(block.layout);
  rms_norm(map, block.norm, 1e-5);
  shared(map, stack, block);
  auto& heads = std::get<SoftmaxAttentionConfig>(block.attention);
  rms_norm(map, map.kind<FullQkNormConfig>(heads.qk_norm).norm, 1e-5);
}

void olmo2(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  rms_norm(map, final_norm(stack), 1e-5);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    output_norms(map, stack, block);
    rotary(map, stack, block);
  });
}

/// Version 4 of transformers has one theta for all layers, and stretches only those that see everything.
void olmo3(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  rms_norm(map, final_norm(stack), 1e-5);
  std::optional<double> theta;
  each_layer(stack, [&](BlockConfig& block, size_t layer) {
    output_norms(map, stack, block);
    auto& heads = std::get<SoftmaxAttentionConfig>(block.attention);
    sliding_window(map, stack, heads, layer, (layer + 1) % 4 != 0);
    const bool local = heads.window > 0;
    const auto& position =
        rotary(map, stack, block, {.theta = 5e5, .layer_type = local ? "sliding_attention" : "full_attention"});
    require(map, position.theta == theta.value_or(position.theta), "block.position.theta", "must not differ by layer");
    require(map, !local || std::holds_alternative<NoRopeScaling>(position.scaling), "block.position.scaling",
            "must be none in layers with a window");
    theta = position.theta;
  });
}

WeightNames output_norm_names() {
  return norm_names("model.layers.#.post_attention_layernorm", "blocks.#.attention_output_norm") +
         norm_names("model.layers.#.post_feedforward_layernorm", "blocks.#.ffn_output_norm") +
         norm_names("model.layers.#.self_attn.q_norm", "blocks.#.attention.query_norm") +
         norm_names("model.layers.#.self_attn.k_norm", "blocks.#.attention.key_norm");
}

}  // namespace

const HubClass& olmo_class() {
  static const HubClass description{
      .name = "OlmoForCausalLM", .model_type = "olmo", .config = olmo, .weights = [](const Stack&) {
        return llama_names({});
      }};
  return description;
}

const HubClass& olmo2_class() {
  static const HubClass description{
      .name = "Olmo2ForCausalLM", .model_type = "olmo2", .config = olmo2, .weights = [](const Stack&) {
        return llama_names(output_norm_names());
      }};
  return description;
}

const HubClass& olmo3_class() {
  static const HubClass description{
      .name = "Olmo3ForCausalLM", .model_type = "olmo3", .config = olmo3, .weights = [](const Stack&) {
        return llama_names(output_norm_names());
      }};
  return description;
}

}  // namespace blockzoo
