#include "hub/classes/parts.h"

namespace blockzoo {
namespace {

void cohere_norm(ConfigMap& map, NormConfig& norm) { map.implied(layer_norm(map, norm).bias, false); }

void cohere_whole(ConfigMap& map, Stack& stack) {
  sizes(map, stack, {.tied = true});
  cohere_norm(map, final_norm(stack));
  factor(map, stack.model.logit_scale, stack.model.width, "logit_scale", 0.0625);
}

SoftmaxAttentionConfig& parts(ConfigMap& map, const Stack& stack, BlockConfig& block, const HeadKeys& keys) {
  map.kind<ParallelConfig>(block.layout);
  cohere_norm(map, block.norm);
  auto& heads = attention(map, stack, block, keys);
  four_biases(map, heads);
  map.same("attention_dropout", heads.dropout, 0.0);
  glu(map, block);
  return heads;
}

void interleaved(ConfigMap& map, const Stack& stack, BlockConfig& block, double theta) {
  map.implied(rotary(map, stack, block, {.theta = theta}).pairing, RopePairing::kInterleaved);
}

void cohere(ConfigMap& map, Stack& stack) {
  cohere_whole(map, stack);
  const auto* softmax = std::get_if<SoftmaxAttentionConfig>(&stack.layers.front().attention);
  bool normed = softmax != nullptr && std::holds_alternative<HeadOwnQkNormConfig>(softmax->qk_norm);
  map.same("use_qk_norm", normed, false);
  each_layer(stack, [&](BlockConfig& block, size_t) {
    auto& heads = parts(map, stack, block, {});
    if (normed) cohere_norm(map, map.kind<HeadOwnQkNormConfig>(heads.qk_norm).norm);
    interleaved(map, stack, block, 5e5);
  });
}

/// Layers with a window have rotary positions, the others none.
void cohere2(ConfigMap& map, Stack& stack) {
  cohere_whole(map, stack);
  int64_t pattern = 4;
  if (map.reading()) map.same("sliding_window_pattern", pattern, pattern);
  if (pattern < 1) throw CannotHold("sliding_window_pattern", "must be above 0");
  each_layer(stack, [&](BlockConfig& block, size_t layer) {
    auto& heads = parts(map, stack, block, {.width = ""});
    sliding_window(map, stack, heads, layer, (static_cast<int64_t>(layer) + 1) % pattern != 0);
    if (heads.window > 0) {
      interleaved(map, stack, block, 1e4);
    } else {
      map.kind<NoPositionConfig>(block.position);
    }
  });
  map.without_effect({"head_dim", "rope_parameters", "rope_theta", "rope_scaling", "cache_implementation",
                      "layer_switch", "order_of_interleaved_layers", "position_embedding_type", "rotary_pct",
                      "use_embedding_sharing", "use_gated_activation", "use_parallel_block", "use_parallel_embedding"});
}

WeightNames one_norm(const std::string& theirs) { return llama_names(norm_names(theirs, "blocks.#.norm")); }

}  // namespace

const HubClass& cohere_class() {
  static const HubClass description{
      .name = "CohereForCausalLM", .model_type = "cohere", .config = cohere, .weights = [](const Stack&) {
        return one_norm("model.layers.#.input_layernorm") +
               norm_names("model.layers.#.self_attn.q_norm", "blocks.#.attention.query_norm") +
               norm_names("model.layers.#.self_attn.k_norm", "blocks.#.attention.key_norm");
      }};
  return description;
}

const HubClass& cohere2_class() {
  static const HubClass description{
      .name = "Cohere2ForCausalLM", .model_type = "cohere2", .config = cohere2, .weights = [](const Stack&) {
        return one_norm("model.layers.#.input_layernorm");
      }};
  return description;
}

}  // namespace blockzoo
