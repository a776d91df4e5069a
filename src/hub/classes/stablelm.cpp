#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void stablelm_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack);
  layer_norm(map, final_norm(stack));
  const auto& first = stack.layers.front();
  bool parallel = std::holds_alternative<ParallelConfig>(first.layout);
  map.same("use_parallel_residual", parallel, false);
  const auto* softmax = std::get_if<SoftmaxAttentionConfig>(&first.attention);
  bool normed = softmax != nullptr && std::holds_alternative<HeadOwnQkNormConfig>(softmax->qk_norm);
  map.same("qk_layernorm", normed, false);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    if (parallel) {
      map.kind<ParallelConfig>(block.layout);
    } else {
      map.kind<PreNormConfig>(block.layout);
    }
    layer_norm(map, block.norm);
    auto& heads = attention(map, stack, block, {.width = ""});
    map.all("use_qkv_bias", {&heads.query_bias, &heads.key_bias, &heads.value_bias}, false);
    if (normed) map.implied(layer_norm(map, map.kind<HeadOwnQkNormConfig>(heads.qk_norm).norm).bias, false);
    map.same("attention_dropout", heads.dropout, 0.0);
    rotary(map, stack, block, {.fraction = 0.25, .partial = true});
    glu(map, block);
  });
  map.always("hidden_dropout", 0.0);  // it would act on the feed-forward layers alone
}

}  // namespace

const HubClass& stablelm_class() {
  static const HubClass description{
      .name = "StableLmForCausalLM",
      .model_type = "stablelm",
      .config = stablelm_config,
      .weights = [](const Stack& stack) {
        const bool parallel = std::holds_alternative<ParallelConfig>(stack.layers.front().layout);
        const std::string theirs = "model.layers.#.self_attn.", ours = "blocks.#.attention.";
        return llama_names(parallel ? norm_names("model.layers.#.input_layernorm", "blocks.#.norm")
                                    : pre_norm_names()) +
               WeightNames{{theirs + "q_layernorm.norms.@.weight", {ours + "query_norm.gain"}, Layout::kHeadByHead},
                           {theirs + "k_layernorm.norms.@.weight", {ours + "key_norm.gain"}, Layout::kHeadByHead}};
      }};
  return description;
}

}  // namespace blockzoo
