#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/kernels/largest_outputs.h"
#include "blockzoo/nn/model_config.h"

namespace blockzoo {

/// What a model has kept of the tokens before those that it reads.
struct Past {
  Places places;                    // of the tokens that it reads
  std::vector<LayerCache*> layers;  // one a layer; empty when nothing comes before
};

/// A decoder-only transformer built from a config:
///   x = dropout(norm_e(position(scale * E[token])));  x = block_l(x) for each layer;  logits = cap(s * W norm_f(x)).
/// A layer that reuses keys and values gets those of its source (key_value_sources).
/// Shapes:     tokens [B, T] (int64) -> logits [B, T, V].
/// Parameters: embedding.weight [V, E]; embedding_projection.weight [D, E] and head_projection.weight [E, D] when E is
///             not D; embedding_norm, position, layer_embedding when on, blocks.N, final_norm; head.weight [V, E]
///             unless tied; head_bias [V] when on.
/// Errors:     ConfigError when the config does not fit together; sequences longer than the context.
class ModelImpl final : public torch::nn::Module {
 public:
  /// Parameters that are drawn start at zero until init_parameters is called.
  explicit ModelImpl(const ModelConfig& config);

  Tensor forward(const Tensor& tokens);

  /// The stack's output [B, T, D] for tokens that come after those of `past`; forward is logits(hidden(tokens)).
  Tensor hidden(const Tensor& tokens, const Past& past = {});
  /// The logits [B, T, V] of such an output, or of a part of its positions.
  Tensor logits(const Tensor& x);
  /// Those logits of one position that may be the largest.
  LargestOutputs::Some logits(const Tensor& x, const LargestOutputs& largest);
  /// What finds the largest logits of this model's present values; nothing where it brings nothing, or where the logits
  /// are changed once more behind the head.
  std::optional<LargestOutputs> largest_logits() const;

  /// The matrices that every token is multiplied with.
  std::vector<Tensor> matrices(bool with_head) const;

  /// Draws the start values. Equal seeds give equal values for every parameter of equal name and shape.
  void init_parameters(uint64_t seed);

  const ModelConfig& config() const { return config_; }

 private:
  Tensor embed(const Tensor& tokens, const Places& places);
  Tensor before_head(const Tensor& x);
  const Tensor& head_weight() const { return head_.is_empty() ? embedding_->weight : head_->weight; }

  const ModelConfig config_;  // resolved
  Embedding embedding_{nullptr};
  Linear embedding_projection_{nullptr};
  Norm embedding_norm_{nullptr};
  Position embedding_position_{nullptr};     // empty unless it acts on the embedding
  std::vector<Position> positions_;          // one a layer; layers of equal needs share one
  LayerEmbedding layer_embedding_{nullptr};  // empty when off
  std::vector<std::optional<size_t>> key_value_sources_;
  std::vector<bool> read_later_;  // layers whose keys and values others reuse
  torch::nn::ModuleList blocks_;
  Norm final_norm_{nullptr};
  Linear head_projection_{nullptr};
  Linear head_{nullptr};  // empty when tied
  Tensor head_bias_;
};
TORCH_MODULE(Model);

/// Numbers of parameters, each counted once.
struct ParameterCount {
  int64_t total = 0;
  std::map<std::string, int64_t> by_part;  // embedding, position, layer_input, attention, ffn, norms, head
};

/// Counts by building the model without memory, so a model of any size can be counted.
ParameterCount count_parameters(const ModelConfig& config);

}  // namespace blockzoo
