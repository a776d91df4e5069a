#pragma once

#include "hub/transformers/hub_class.h"
#include "hub/transformers/rope_map.h"

// What the descriptions of several classes share.

namespace blockzoo {

/// Sizes of the whole model, and whether the head is tied. Makes the stack's layers.
struct SizeKeys {
  std::string_view width = "hidden_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view context = "max_position_embeddings";
  bool tied = false;          // where config.json says nothing
  int64_t usual_context = 0;  // the same; 0: it must say
};
void sizes(ConfigMap& map, Stack& stack, const SizeKeys& keys = {});

/// Calls `describe` with each layer's block.
template <class Describe>
void each_layer(Stack& stack, const Describe& describe) {
  for (size_t layer = 0; layer < stack.layers.size(); ++layer) describe(stack.layers[layer], layer);
}

/// Heads and their width. Errors: CannotHold for numbers that do not divide.
struct HeadKeys {
  std::string_view heads = "num_attention_heads";
  std::string_view key_heads = "num_key_value_heads";  // empty: as many as heads
  std::string_view width = "head_dim";                 // empty: always the model's width / heads
};
SoftmaxAttentionConfig& attention(ConfigMap& map, const Stack& stack, BlockConfig& block, const HeadKeys& keys = {});

/// Norms of a kind, with their key for eps.
RmsNormConfig& rms_norm(ConfigMap& map, NormConfig& norm, double eps = 1e-6, std::string_view key = "rms_norm_eps");
LayerNormConfig& layer_norm(ConfigMap& map, NormConfig& norm, std::string_view key = "layer_norm_eps",
                            double eps = 1e-5);

/// The norm before the head.
NormConfig& final_norm(Stack& stack);

/// Whether a layer has a window, in the list layer_types, and the window's width. After the last layer, a model without
/// windows still says some width, since transformers wants one.
void sliding_window(ConfigMap& map, const Stack& stack, SoftmaxAttentionConfig& attention, size_t layer, bool usual);

/// A factor on the embedding or the logits.
void factor(ConfigMap& map, ScaleConfig& scale, int64_t width, std::string_view key, double absent);

MlpConfig& mlp(ConfigMap& map, BlockConfig& block, Activation absent, std::string_view key = "hidden_act",
               std::string_view hidden = "intermediate_size");
GluConfig& glu(ConfigMap& map, BlockConfig& block, Activation absent = Activation::kSilu,
               std::string_view key = "hidden_act");

/// Some key with a bias for queries, keys, values and the output.
void four_biases(ConfigMap& map, SoftmaxAttentionConfig& attention, std::string_view key = "attention_bias");

/// Rows of queries, keys and values one after the other, or by key head.
WeightNames fused_attention(const std::string& theirs, Layout layout, Layout bias_layout);

/// The layers' rotary positions.
RopePositionConfig& rotary(ConfigMap& map, const Stack& stack, BlockConfig& block, RopeNames names = {});

/// The width of a head that the block's attention has.
int64_t head_width(const Stack& stack, const BlockConfig& block);

/// What writing must not hide: transformers refuses such a config.
void require(const ConfigMap& map, bool holds, std::string_view field, const std::string& problem);

/// Weight and bias of a matrix; weight and bias of a norm.
WeightNames matrix(const std::string& theirs, const std::string& ours, Layout layout = Layout::kSame);
WeightNames norm_names(const std::string& theirs, const std::string& ours);

WeightNames operator+(WeightNames a, const WeightNames& b);

/// The token table, attention, a gated feed-forward layer and the final norm under Llama's names; norms between them.
WeightNames llama_names(const WeightNames& block_norms);
/// Llama's input_layernorm and post_attention_layernorm before the sublayers.
WeightNames pre_norm_names();
/// Gemma's names for norms on both sides of the sublayers.
WeightNames double_norm_names();

}  // namespace blockzoo
