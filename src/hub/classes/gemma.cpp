#include <cmath>

#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

/// Norm weights are stored as g - 1.
void offset_norm(ConfigMap& map, NormConfig& norm) { map.implied(rms_norm(map, norm).unit_offset, true); }

void gemma_whole(ConfigMap& map, Stack& stack) {
  sizes(map, stack, {.tied = true});
  map.kind<SqrtWidthScale>(stack.model.embedding_scale);
  offset_norm(map, final_norm(stack));
  map.always("use_bidirectional_attention", false);
}

/// The factor of the scores is 1 / sqrt(query_pre_attn_scalar), a whole number.
void score_factor(ConfigMap& map, SoftmaxAttentionConfig& attention) {
  const auto factor = attention.scale.value_or(1);
  int64_t scalar = map.reading() ? 256 : std::llround(1 / (factor * factor));
  map.same("query_pre_attn_scalar", scalar, int64_t{256});
  if (map.reading()) attention.scale = 1 / std::sqrt(static_cast<double>(scalar));
}

void heads_and_ffn(ConfigMap& map, const Stack& stack, BlockConfig& block, std::string_view activation) {
  auto& heads = attention(map, stack, block);
  four_biases(map, heads);
  map.same("attention_dropout", heads.dropout, 0.0);
  glu(map, block, Activation::kGeluTanh, activation);
}

void gemma(ConfigMap& map, Stack& stack) {
  gemma_whole(map, stack);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    map.kind<PreNormConfig>(block.layout);
    offset_norm(map, block.norm);
    heads_and_ffn(map, stack, block, "hidden_act");
    rotary(map, stack, block);
    // transformers takes Gemma's "gelu" for the approximation by tanh, and hidden_activation overrules it in version 4.
    auto& ffn = std::get<GluConfig>(block.ffn);
    if (map.reading() && ffn.activation == Activation::kGelu) ffn.activation = Activation::kGeluTanh;
    map.activation("hidden_activation", ffn.activation, ffn.activation);
  });
}

void gemma2(ConfigMap& map, Stack& stack) {
  gemma_whole(map, stack);
  map.off_or("final_logit_softcapping", stack.model.final_softcap);
  each_layer(stack, [&](BlockConfig& block, size_t layer) {
    map.kind<DoubleNormConfig>(block.layout);
    offset_norm(map, block.norm);
    heads_and_ffn(map, stack, block, "hidden_activation");
    auto& heads = std::get<SoftmaxAttentionConfig>(block.attention);
    require(map, stack.model.width % heads.heads == 0, "block.attention.heads", "must divide width there");
    score_factor(map, heads);
    map.off_or("attn_logit_softcapping", heads.softcap);
    sliding_window(map, stack, heads, layer, layer % 2 == 0);
    rotary(map, stack, block);
  });
  map.without_effect({"hidden_act", "cache_implementation"});
}

void gemma3(ConfigMap& map, Stack& stack) {
  gemma_whole(map, stack);
  map.off_or("final_logit_softcapping", stack.model.final_softcap);
  map.always("attn_logit_softcapping", nullptr);
  int64_t pattern = 6;
  if (map.reading()) map.same("sliding_window_pattern", pattern, pattern);
  if (pattern < 1) throw CannotHold("sliding_window_pattern", "must be above 0");
  map.without_effect({"_sliding_window_pattern"});
  each_layer(stack, [&](BlockConfig& block, size_t layer) {
    map.kind<DoubleNormConfig>(block.layout);
    offset_norm(map, block.norm);
    heads_and_ffn(map, stack, block, "hidden_activation");
    auto& heads = std::get<SoftmaxAttentionConfig>(block.attention);
    require(map, stack.model.width % heads.heads == 0, "block.attention.heads", "must divide width there");
    score_factor(map, heads);
    offset_norm(map, map.kind<HeadQkNormConfig>(heads.qk_norm).norm);
    sliding_window(map, stack, heads, layer, (static_cast<int64_t>(layer) + 1) % pattern != 0);
    const bool local = heads.window > 0;
    rotary(map, stack, block,
           {.theta = local ? 1e4 : 1e6,
            .theta_key = local ? "rope_local_base_freq" : "rope_theta",
            .layer_type = local ? "sliding_attention" : "full_attention"});
  });
  map.without_effect({"rope_theta", "rope_local_base_freq", "hidden_act", "cache_implementation"});
}

}  // namespace

const HubClass& gemma_class() {
  static const HubClass description{
      .name = "GemmaForCausalLM", .model_type = "gemma", .config = gemma, .weights = [](const Stack&) {
        return llama_names(pre_norm_names());
      }};
  return description;
}

const HubClass& gemma2_class() {
  static const HubClass description{
      .name = "Gemma2ForCausalLM", .model_type = "gemma2", .config = gemma2, .weights = [](const Stack&) {
        return llama_names(double_norm_names());
      }};
  return description;
}

const HubClass& gemma3_class() {
  static const HubClass description{
      .name = "Gemma3ForCausalLM", .model_type = "gemma3_text", .config = gemma3, .weights = [](const Stack&) {
        return llama_names(double_norm_names()) +
               norm_names("model.layers.#.self_attn.q_norm", "blocks.#.attention.query_norm") +
               norm_names("model.layers.#.self_attn.k_norm", "blocks.#.attention.key_norm");
      }};
  return description;
}

}  // namespace blockzoo
