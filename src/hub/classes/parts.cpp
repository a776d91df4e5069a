#include "hub/classes/parts.h"

#include <cmath>

namespace blockzoo {
namespace {

/// The feed-forward kind that the class has; writing keeps the hidden width of another one, which then is all that
/// differs.
template <class Kind>
Kind& as_kind(const ConfigMap& map, BlockConfig& block) {
  const auto hidden = std::visit([](const auto& any) { return any.hidden; }, block.ffn);
  auto& ffn = map.kind<Kind>(block.ffn);
  if (!map.reading()) ffn.hidden = hidden;
  return ffn;
}

}  // namespace

void sizes(ConfigMap& map, Stack& stack, const SizeKeys& keys) {
  auto& model = stack.model;
  map.same("vocab_size", model.vocabulary);
  map.same(keys.width, model.width);
  map.same(keys.layers, model.layers);
  if (keys.usual_context > 0) {
    map.same(keys.context, model.context, keys.usual_context);
  } else {
    map.same(keys.context, model.context);
  }
  map.same("tie_word_embeddings", model.tied, keys.tied);
  if (!map.reading()) return;
  const auto bound = ModelConfig::layer_count;
  if (!bound.holds(static_cast<double>(model.layers)))
    throw CannotHold(keys.layers, "is " + std::to_string(model.layers) + "; must be " + std::string(bound.allowed));
  if (!tensor_size.holds(static_cast<double>(model.width)))
    throw CannotHold(keys.width, "is " + std::to_string(model.width) + "; must be " + std::string(tensor_size.allowed));
  stack.layers.assign(static_cast<size_t>(model.layers), BlockConfig{});
}

SoftmaxAttentionConfig& attention(ConfigMap& map, const Stack& stack, BlockConfig& block, const HeadKeys& keys) {
  const auto count = std::visit([](const auto& any) { return any.heads; }, block.attention);
  auto& attention = map.kind<SoftmaxAttentionConfig>(block.attention);
  if (!map.reading()) attention.heads = count;  // also of a kind that the class does not have
  map.same(keys.heads, attention.heads);
  if (attention.heads < 1) throw CannotHold(keys.heads, "is " + std::to_string(attention.heads) + "; must be above 0");
  if (keys.key_heads.empty()) {
    map.implied(attention.kv_heads, attention.heads);
  } else {
    map.same(keys.key_heads, attention.kv_heads, attention.heads);
  }
  const auto width = stack.model.width;
  if (!keys.width.empty() && (!map.reading() || map.find(keys.width) != nullptr)) {
    map.same(keys.width, attention.head_width, width / attention.heads);
  } else if (map.reading()) {
    if (width % attention.heads != 0)
      throw CannotHold(keys.heads, "is " + std::to_string(attention.heads) + ", which does not divide the width, " +
                                       std::to_string(width));
    attention.head_width = width / attention.heads;
  }
  return attention;
}

RmsNormConfig& rms_norm(ConfigMap& map, NormConfig& norm, double eps, std::string_view key) {
  auto& rms = map.kind<RmsNormConfig>(norm);
  map.same(key, rms.eps, eps);
  return rms;
}

LayerNormConfig& layer_norm(ConfigMap& map, NormConfig& norm, std::string_view key, double eps) {
  auto& layer = map.kind<LayerNormConfig>(norm);
  map.same(key, layer.eps, eps);
  return layer;
}

NormConfig& final_norm(Stack& stack) {
  if (!stack.model.final_norm) stack.model.final_norm = NormConfig{};
  return *stack.model.final_norm;
}

void sliding_window(ConfigMap& map, const Stack& stack, SoftmaxAttentionConfig& attention, size_t layer, bool usual) {
  bool slides = attention.window > 0;
  map.sliding("layer_types", layer, stack.layers.size(), slides, usual);
  if (slides) {
    map.same("sliding_window", attention.window);
  } else if (map.reading()) {
    map.without_effect({"sliding_window"});
    attention.window = 0;
  } else if (!map.json().contains("sliding_window")) {
    map.put("sliding_window") = stack.model.context;
  }
}

void factor(ConfigMap& map, ScaleConfig& scale, int64_t width, std::string_view key, double absent) {
  double value = scale_factor(scale, width);
  map.same(key, value, absent);
  if (!map.reading()) return;
  if (value <= 0) throw CannotHold(key, "must be above 0");
  scale = value == 1 ? ScaleConfig(NoScale{}) : ScaleConfig(ConstantScale{.value = value});
}

MlpConfig& mlp(ConfigMap& map, BlockConfig& block, Activation absent, std::string_view key, std::string_view hidden) {
  auto& ffn = as_kind<MlpConfig>(map, block);
  map.activation(key, ffn.activation, absent);
  map.same(hidden, ffn.hidden);
  return ffn;
}

GluConfig& glu(ConfigMap& map, BlockConfig& block, Activation absent, std::string_view key) {
  auto& ffn = as_kind<GluConfig>(map, block);
  map.activation(key, ffn.activation, absent);
  map.same("intermediate_size", ffn.hidden);
  return ffn;
}

void four_biases(ConfigMap& map, SoftmaxAttentionConfig& a, std::string_view key) {
  map.all(key, {&a.query_bias, &a.key_bias, &a.value_bias, &a.output_bias}, false);
}

RopePositionConfig& rotary(ConfigMap& map, const Stack& stack, BlockConfig& block, RopeNames names) {
  auto& position = map.kind<RopePositionConfig>(block.position);
  names.context = stack.model.context;
  rope(map, position, head_width(stack, block), names);
  return position;
}

int64_t head_width(const Stack& stack, const BlockConfig& block) {
  return std::visit([&](const auto& attention) { return attention.rotary_width(stack.model.width); }, block.attention);
}

void require(const ConfigMap& map, bool holds, std::string_view field, const std::string& problem) {
  if (!map.reading() && !holds) throw CannotHold(field, problem);
}

WeightNames matrix(const std::string& theirs, const std::string& ours, Layout layout) {
  return {{theirs + ".weight", {ours + ".weight"}, layout}, {theirs + ".bias", {ours + ".bias"}}};
}

WeightNames norm_names(const std::string& theirs, const std::string& ours) {
  return {{theirs + ".weight", {ours + ".gain"}}, {theirs + ".bias", {ours + ".bias"}}};
}

WeightNames fused_attention(const std::string& theirs, Layout layout, Layout bias_layout) {
  const auto parts = [&](const std::string& part) {
    std::vector<std::string> ours;
    for (const char* which : {"query", "key", "value"})
      ours.push_back("blocks.#.attention." + std::string(which) + "." + part);
    return ours;
  };
  return {{theirs + ".weight", parts("weight"), layout}, {theirs + ".bias", parts("bias"), bias_layout}};
}

WeightNames operator+(WeightNames a, const WeightNames& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

WeightNames pre_norm_names() {
  return norm_names("model.layers.#.input_layernorm", "blocks.#.attention_norm") +
         norm_names("model.layers.#.post_attention_layernorm", "blocks.#.ffn_norm");
}

WeightNames double_norm_names() {
  return norm_names("model.layers.#.input_layernorm", "blocks.#.attention_norm") +
         norm_names("model.layers.#.post_attention_layernorm", "blocks.#.attention_output_norm") +
         norm_names("model.layers.#.pre_feedforward_layernorm", "blocks.#.ffn_norm") +
         norm_names("model.layers.#.post_feedforward_layernorm", "blocks.#.ffn_output_norm");
}

WeightNames llama_names(const WeightNames& block_norms) {
  const std::string theirs = "model.layers.#.", ours = "blocks.#.";
  return WeightNames{{"model.embed_tokens.weight", {"embedding.weight"}}} + block_norms +
         matrix(theirs + "self_attn.q_proj", ours + "attention.query") +
         matrix(theirs + "self_attn.k_proj", ours + "attention.key") +
         matrix(theirs + "self_attn.v_proj", ours + "attention.value") +
         matrix(theirs + "self_attn.o_proj", ours + "attention.output") +
         matrix(theirs + "mlp.gate_proj", ours + "ffn.gate") + matrix(theirs + "mlp.up_proj", ours + "ffn.up") +
         matrix(theirs + "mlp.down_proj", ours + "ffn.down") + norm_names("model.norm", "final_norm");
}

}  // namespace blockzoo
