#include <algorithm>
#include <cmath>

#include "hub/classes/parts.h"
#include "hub/safetensors_header.h"

namespace blockzoo {
namespace {

constexpr std::string_view kFullAttention = "full_attention", kSlidingAttention = "sliding_attention";

bool reuses_keys_values(const BlockConfig& block) {
  return std::visit([](const auto& attention) { return attention.reuse_keys_values; }, block.attention);
}

/// Layers at the end that reuse keys and values.
int64_t sharing_layers(const Stack& stack) {
  const auto own = std::find_if_not(stack.layers.rbegin(), stack.layers.rend(), reuses_keys_values);
  return own - stack.layers.rbegin();
}

const SoftmaxAttentionConfig* softmax_of(const BlockConfig& block) {
  return std::get_if<SoftmaxAttentionConfig>(&block.attention);
}

int64_t hidden_of(const BlockConfig& block) {
  return std::visit([](const auto& ffn) { return ffn.hidden.value_or(0); }, block.ffn);
}

/// What the model has once beside the keys that every class has.
struct Gemma4Once {
  int64_t sharing = 0;          // layers at the end that reuse keys and values
  bool wide = false;            // their feed-forward sublayers are twice as wide
  bool keys_as_values = false;  // in layers without a window
};

Gemma4Once gemma4_once(ConfigMap& map, Stack& stack) {
  Gemma4Once once;
  if (!map.reading()) {
    once.sharing = sharing_layers(stack);
    once.wide = once.sharing > 0 && hidden_of(stack.layers.back()) == 2 * hidden_of(stack.layers.front());
    once.keys_as_values = std::any_of(stack.layers.begin(), stack.layers.end(), [](const BlockConfig& block) {
      const auto* softmax = softmax_of(block);
      return softmax != nullptr && softmax->window == 0 && softmax->keys_as_values;
    });
  }
  map.same("num_kv_shared_layers", once.sharing, int64_t{0});
  map.same("use_double_wide_mlp", once.wide, false);
  map.same("attention_k_eq_v", once.keys_as_values, false);
  if (once.sharing < 0 || once.sharing > stack.model.layers)
    throw CannotHold("num_kv_shared_layers", "is " + std::to_string(once.sharing));
  return once;
}

void gemma4_layer_embedding(ConfigMap& map, ModelConfig& model) {
  map.same("hidden_size_per_layer_input", model.layer_embedding_width, int64_t{256});
  auto rows = model.vocabulary;
  map.same("vocab_size_per_layer_input", rows, int64_t{262144});
  if (model.layer_embedding_width > 0 && rows != model.vocabulary)
    throw CannotHold("vocab_size_per_layer_input", "must equal vocab_size");
}

/// Heads, as many for all layers; key heads and widths, which may differ in layers without a window. Those stand in
/// keys of their own, or in per_layer_config, as transformers saves them.
void gemma4_heads(ConfigMap& map, SoftmaxAttentionConfig& attention, size_t layer, bool differ_in_key_heads) {
  const bool full = attention.window == 0;
  map.same("num_attention_heads", attention.heads);
  if (attention.heads < 1) throw CannotHold("num_attention_heads", "is " + std::to_string(attention.heads));
  const std::string width_key = full ? "global_head_dim" : "head_dim";
  const std::string heads_key = full && differ_in_key_heads ? "num_global_key_value_heads" : "num_key_value_heads";
  const auto* by_layer = map.reading() ? map.find("per_layer_config") : nullptr;
  if (by_layer == nullptr) {
    map.same(width_key, attention.head_width, int64_t{full ? 512 : 256});
    if (map.reading() && map.find(heads_key) == nullptr) {
      map.same("num_key_value_heads", attention.kv_heads, int64_t{4});
    } else {
      map.same(heads_key, attention.kv_heads);
    }
    return;
  }
  map.same("head_dim", attention.head_width, int64_t{256});
  map.same("num_key_value_heads", attention.kv_heads, int64_t{4});
  if (!by_layer->is_object()) throw CannotHold("per_layer_config", "must be a map");
  const auto own = by_layer->find(std::to_string(layer));
  if (own == by_layer->end()) return;
  ConfigMap one(*own);
  one.same("head_dim", attention.head_width, *attention.head_width);
  one.same("num_key_value_heads", attention.kv_heads, *attention.kv_heads);
  one.refuse_unknown();
}

/// RoPE, whose pairs turn all or, called proportional, those of the highest frequencies alone.
void gemma4_positions(ConfigMap& map, BlockConfig& block, bool full, int64_t width) {
  auto& rope = map.kind<RopePositionConfig>(block.position);
  const std::string type(full ? kFullAttention : kSlidingAttention);
  if (!map.reading()) {
    auto& own = map.put("rope_parameters")[type];
    own = {{"rope_type", rope.still_fraction > 0 ? "proportional" : "default"}, {"rope_theta", rope.theta}};
    if (rope.still_fraction > 0) own["partial_rotary_factor"] = 1 - rope.still_fraction;
    return;
  }
  rope = RopePositionConfig{.theta = full ? 1e6 : 1e4, .still_fraction = full ? 0.75 : 0};
  const auto* all = map.find("rope_parameters");
  if (all == nullptr) {
    map.note_default("rope_parameters", full ? "proportional in full layers" : "default in sliding layers");
    return;
  }
  if (!all->is_object() || !all->contains(type) || !(*all)[type].is_object())
    throw CannotHold("rope_parameters", "must have a map " + quote(type));
  ConfigMap own((*all)[type]);
  std::string name;
  own.same("rope_type", name, std::string("default"));
  own.same("rope_theta", rope.theta, 1e4);
  double turning = 1;
  own.same("partial_rotary_factor", turning, 1.0);
  own.always("factor", 1.0);
  own.refuse_unknown();
  if (name != "default" && name != "proportional")
    throw CannotHold("rope_parameters: rope_type", "is " + quote(name) + "; allowed: default, proportional");
  rope.still_fraction = name == "default" ? 0 : 1 - turning;
  const auto pairs = static_cast<int64_t>(std::floor(turning * static_cast<double>(width) / 2));
  if (name == "proportional" && turning_pairs(rope, width) != pairs)
    throw CannotHold("partial_rotary_factor", "leaves no whole number of pairs to turn");
}

void gemma4_config(ConfigMap& map, Stack& stack) {
  sizes(map, stack, {.tied = true});
  map.kind<SqrtWidthScale>(stack.model.embedding_scale);
  map.off_or("final_logit_softcapping", stack.model.final_softcap);
  rms_norm(map, final_norm(stack));
  gemma4_layer_embedding(map, stack.model);
  const auto once = gemma4_once(map, stack);
  require(map, softmax_of(stack.layers.back()) != nullptr && softmax_of(stack.layers.back())->window == 0,
          "block.attention.window", "must be 0 in the last layer there");
  each_layer(stack, [&](BlockConfig& block, size_t layer) {
    const bool sharing = static_cast<int64_t>(layer) >= stack.model.layers - once.sharing;
    map.kind<DoubleNormConfig>(block.layout);
    rms_norm(map, block.norm);
    map.implied(block.output_factor, true);
    auto& attention = map.kind<SoftmaxAttentionConfig>(block.attention);
    bool slides = attention.window > 0;
    map.sliding("layer_types", layer, stack.layers.size(), slides, (layer + 1) % 6 != 0);
    slides = slides && layer + 1 < stack.layers.size();  // transformers makes the last one see everything
    if (slides) {
      map.same("sliding_window", attention.window, int64_t{512});
    } else if (map.reading()) {
      attention.window = 0;
    }
    gemma4_heads(map, attention, layer, once.keys_as_values);
    four_biases(map, attention);
    map.implied(attention.keys_as_values, !slides && once.keys_as_values);
    if (map.reading() && attention.keys_as_values) attention.value_bias = false;
    map.same("attention_dropout", attention.dropout, 0.0);
    rms_norm(map, map.kind<HeadQkNormConfig>(attention.qk_norm).norm);
    map.implied(rms_norm(map, attention.value_norm).gain, false);
    map.implied(attention.scale, 1.0);
    map.implied(attention.reuse_keys_values, sharing);
    gemma4_positions(map, block, !slides, attention.head_width.value_or(0));
    auto& ffn = map.kind<GluConfig>(block.ffn);
    map.activation("hidden_activation", ffn.activation, Activation::kGeluTanh);
    auto hidden = ffn.hidden.value_or(0) / (sharing && once.wide ? 2 : 1);
    map.same("intermediate_size", hidden);
    if (map.reading()) ffn.hidden = sharing && once.wide ? 2 * hidden : hidden;
  });
  if (!map.reading()) {
    for (const char* key : {"num_key_value_heads", "head_dim"}) {  // of layers with a window, where there are none
      if (!map.json().contains(key)) map.put(key) = key[0] == 'n' ? *softmax_of(stack.layers.back())->kv_heads : 256;
    }
    if (!map.json().contains("sliding_window")) map.put("sliding_window") = stack.model.context;
    auto& positions = map.put("rope_parameters");
    for (const auto type : {kFullAttention, kSlidingAttention}) {
      if (!positions.contains(std::string(type)))
        positions[std::string(type)] = {{"rope_type", "default"}, {"rope_theta", 1e4}};
    }
  }
  map.always("use_bidirectional_attention", nullptr);
  map.always("enable_moe_block", false);
  map.without_effect({"sliding_window", "global_head_dim", "num_global_key_value_heads", "head_dim",
                      "num_key_value_heads", "num_experts", "top_k_experts", "moe_intermediate_size"});
}

WeightNames gemma4_names(const Stack&) {
  const std::string theirs = "model.layers.#.", ours = "blocks.#.";
  return llama_names(double_norm_names()) + norm_names(theirs + "self_attn.q_norm", ours + "attention.query_norm") +
         norm_names(theirs + "self_attn.k_norm", ours + "attention.key_norm") +
         WeightNames{{theirs + "layer_scalar", {ours + "output_factor"}},
                     {"model.embed_tokens_per_layer.weight", {"layer_embedding.table.weight"}}} +
         matrix("model.per_layer_model_projection", "layer_embedding.projection") +
         norm_names("model.per_layer_projection_norm", "layer_embedding.norm") +
         matrix(theirs + "per_layer_input_gate", ours + "layer_input.gate") +
         matrix(theirs + "per_layer_projection", ours + "layer_input.output") +
         norm_names(theirs + "post_per_layer_input_norm", ours + "layer_input.norm");
}

}  // namespace

const HubClass& gemma4_class() {
  static const HubClass description{
      .name = "Gemma4ForCausalLM", .model_type = "gemma4_text", .config = gemma4_config, .weights = gemma4_names};
  return description;
}

}  // namespace blockzoo
