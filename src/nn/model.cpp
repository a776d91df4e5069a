#include "blockzoo/nn/model.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "blockzoo/kernels/attention_observer.h"
#include "blockzoo/kernels/linear.h"
#include "blockzoo/kernels/soft_cap.h"
#include "blockzoo/nn/parameter.h"
#include "core/writer.h"

namespace blockzoo {
namespace {

/// Whether two layers can share one position encoding.
bool same_position(const BlockConfig& a, const BlockConfig& b, const Dims& dims) {
  const auto for_a = position_dims(a, dims), for_b = position_dims(b, dims);
  return for_a.heads == for_b.heads && for_a.rotary_width == for_b.rotary_width &&
         to_tree(a.position) == to_tree(b.position);
}

/// Whether each layer has one of its own, weights and all.
bool of_each_layer(const PositionConfig& config) {
  return std::visit(
      []<class Kind>(const Kind&) {
        return requires { Kind::of_each_layer; };
      },
      config);
}

/// Position encodings for every layer; layers of equal config and equal needs share one where the kind lets them.
struct PositionPool {
  struct Entry {
    BlockConfig block;
    Position module{nullptr};
  };
  std::vector<Entry> entries;

  /// The encoding for `block`, and whether it is new.
  std::pair<Position, bool> get(const BlockConfig& block, const Dims& dims) {
    for (const auto& entry : entries) {
      if (!of_each_layer(block.position) && same_position(entry.block, block, dims)) return {entry.module, false};
    }
    entries.push_back({block, make_position(block.position, position_dims(block, dims))});
    return {entries.back().module, true};
  }
};

}  // namespace

ModelImpl::ModelImpl(const ModelConfig& config) : config_(resolved(config)) {
  const Dims dims{.model = config_.width, .context = config_.context, .layer_embedding = config_.layer_embedding_width};
  const auto table_width = *config_.embedding_width;
  embedding_ = register_module("embedding", Embedding(config_.vocabulary, table_width));
  if (table_width != dims.model)
    embedding_projection_ =
        register_module("embedding_projection", Linear(LinearConfig{.in = table_width, .out = dims.model}));
  embedding_norm_ = register_module("embedding_norm", make_norm(config_.embedding_norm, {dims.model}));

  PositionPool pool;
  const auto layers = expand_layers(config_);
  const bool on_embedding =
      std::visit([](const auto& position) { return position.acts_on_embedding; }, config_.block.position);
  const auto as_block = [&](const BlockConfig& layer) {
    return same_position(layer, config_.block, dims) && !of_each_layer(layer.position);
  };
  if (on_embedding || std::any_of(layers.begin(), layers.end(), as_block)) {
    const auto position = register_module("position", pool.get(config_.block, dims).first);
    if (on_embedding) embedding_position_ = position;
  }
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const auto [position, fresh] = pool.get(layers[layer], dims);
    positions_.push_back(fresh ? register_module("position_" + std::to_string(layer), position) : position);
    blocks_->push_back(make_block(layers[layer], dims));
  }
  if (dims.layer_embedding > 0) {
    const LayerEmbeddingSizes sizes{
        .vocabulary = config_.vocabulary, .model = dims.model, .layers = config_.layers, .width = dims.layer_embedding};
    layer_embedding_ = register_module("layer_embedding", LayerEmbedding(sizes, config_.block.norm));
  }
  key_value_sources_ = key_value_sources(layers);
  read_later_.assign(layers.size(), false);
  for (const auto& source : key_value_sources_) {
    if (source) read_later_[*source] = true;
  }
  register_module("blocks", blocks_);

  final_norm_ = register_module("final_norm", make_norm(*config_.final_norm, {dims.model}));
  if (table_width != dims.model)
    head_projection_ = register_module("head_projection", Linear(LinearConfig{.in = dims.model, .out = table_width}));
  if (!config_.tied)
    head_ = register_module(
        "head", Linear(LinearConfig{.in = table_width, .out = config_.vocabulary, .role = LinearRole::kHead}));
  if (config_.head_bias) head_bias_ = register_parameter("head_bias", born({config_.vocabulary}, 0));
}

void ModelImpl::init_parameters(uint64_t seed) { initialise(*this, config_.init, config_.layers, seed); }

Tensor ModelImpl::embed(const Tensor& tokens, const Places& places) {
  auto x = embedding_(tokens);
  const auto factor = scale_factor(config_.embedding_scale, config_.width);
  if (factor != 1) x = x * factor;
  if (!embedding_projection_.is_empty()) x = embedding_projection_(x);
  if (!embedding_position_.is_empty()) x = embedding_position_->embed(x, places);
  x = embedding_norm_(x);
  return config_.embedding_dropout > 0 ? at::dropout(x, config_.embedding_dropout, is_training()) : x;
}

std::optional<LargestOutputs> ModelImpl::largest_logits() const {
  const bool as_they_are = scale_factor(config_.logit_scale, config_.width) == 1 && config_.final_softcap == 0;
  if (!as_they_are || !LargestOutputs::fits(head_weight(), head_bias_)) return std::nullopt;
  return LargestOutputs(head_weight(), head_bias_);
}

std::vector<Tensor> ModelImpl::matrices(bool with_head) const {
  std::vector<Tensor> weights;
  const auto* const head = head_.is_empty() ? nullptr : head_.get();
  for (const auto& module : modules()) {
    const auto* linear = module->as<LinearImpl>();
    if (linear != nullptr && linear != head) weights.push_back(linear->weight);
  }
  if (with_head) weights.push_back(head_weight());
  return weights;
}

Tensor ModelImpl::before_head(const Tensor& x) {
  const auto y = final_norm_(x);
  return head_projection_.is_empty() ? y : head_projection_(y);
}

LargestOutputs::Some ModelImpl::logits(const Tensor& x, const LargestOutputs& largest) {
  return largest(before_head(x));
}

Tensor ModelImpl::logits(const Tensor& x) {
  auto y = linear_map(before_head(x), head_weight(), head_bias_);
  const auto factor = scale_factor(config_.logit_scale, config_.width);
  if (factor != 1) y = y * factor;
  return config_.final_softcap > 0 ? soft_cap(y, config_.final_softcap) : y;
}

Tensor ModelImpl::forward(const Tensor& tokens) { return logits(hidden(tokens)); }

Tensor ModelImpl::hidden(const Tensor& tokens, const Past& past) {
  TORCH_CHECK(tokens.dim() == 2, "[model] tokens must be [B, T], got ", tokens.sizes());
  TORCH_CHECK(past.places.first + tokens.size(1) <= config_.context, "[model] sequences of ",
              past.places.first + tokens.size(1), " tokens are longer than the context, ", config_.context);
  auto x = embed(tokens, past.places);
  const auto inputs = layer_embedding_.is_empty() ? Tensor() : layer_embedding_(tokens, x);  // [B, T, L, P]
  std::vector<KeysValues> kept(blocks_->size());
  for (size_t layer = 0; layer < blocks_->size(); ++layer) {
    const AttentionLayerScope scope(static_cast<int64_t>(layer));
    const auto source = key_value_sources_[layer];
    const Context context{.position = positions_[layer].get(),
                          .places = past.places,
                          .cache = past.layers.empty() ? nullptr : past.layers[layer],
                          .reused = source ? &kept[*source] : nullptr,
                          .made = read_later_[layer] ? &kept[layer] : nullptr,
                          .layer_input = inputs.defined() ? inputs.select(2, static_cast<int64_t>(layer)) : Tensor()};
    x = (*blocks_)[layer]->as<BlockImpl>()->forward(x, context);
  }
  return x;
}

ParameterCount count_parameters(const ModelConfig& config) {
  const BornOn meta(at::kMeta);
  ParameterCount count;
  for (const auto& item : Model(config)->named_parameters()) {
    const auto& name = item.key();
    const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    const bool table = name.starts_with("embedding") || name == "layer_embedding.table.weight";
    const bool of_layer = name.starts_with("position_") && !name.ends_with(".table.weight");  // Transformer-XL's
    const auto part = has("norm") || has("output_factor")        ? "norms"
                      : has(".attention.") || of_layer           ? "attention"
                      : has(".ffn.")                             ? "ffn"
                      : name.starts_with("position")             ? "position"
                      : table                                    ? "embedding"
                      : has("layer_input") || has("layer_embed") ? "layer_input"
                                                                 : "head";
    count.by_part[part] += item.value().numel();
    count.total += item.value().numel();
  }
  return count;
}

}  // namespace blockzoo
