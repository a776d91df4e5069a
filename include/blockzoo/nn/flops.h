#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "blockzoo/nn/model_config.h"

namespace blockzoo {

/// Which pairs of a query and a key the scores and the values are counted for.
enum class AttentionPairs {
  kAll,      // T x T, as published figures have it, whatever a mask hides
  kVisible,  // those that the causal mask and the window let through
};

constexpr auto names(AttentionPairs) {
  using enum AttentionPairs;
  return std::to_array<std::pair<AttentionPairs, std::string_view>>({{kAll, "all pairs"}, {kVisible, "visible pairs"}});
}

/// Floating-point operations by what they are for: 2 for each multiply-add of a matrix product. Nothing else is
/// counted: no norm, softmax, activation, bias, rotation, lookup or sum. Not whole numbers in type only, since the
/// total of a long run is beyond 64 bits.
struct Flops {
  double query_key_value = 0;  // from the stream to queries, keys and values, by way of latents where there are any
  double attention_output = 0;
  double scores = 0;  // queries times keys, and times relative positions with their projection
  double values = 0;  // attention weights times values
  double ffn = 0;
  double layer_inputs = 0;       // from and to the embeddings of the layers, where there are any
  double table_projections = 0;  // between token table and stream, where embedding_width is not width
  double head = 0;               // tied or not

  std::array<std::pair<std::string_view, double>, 8> parts() const;
  double total() const;
};

/// One forward pass over one sequence of `tokens` tokens, from the config alone: no model is built.
/// Errors: ConfigError when the config does not fit together.
Flops forward_flops(const ModelConfig& config, int64_t tokens, AttentionPairs pairs = AttentionPairs::kAll);

/// What training_flops counts, for records and reports.
inline constexpr std::string_view kTrainingFlopsConvention =
    "3 x forward; 2 for each multiply-add of a matrix product, nothing else; attention over all pairs";

/// Training on `sequences` sequences as long as the context: forward and backward, taken as 3 x forward over all pairs.
/// Validation is not counted.
double training_flops(const ModelConfig& config, int64_t sequences);

}  // namespace blockzoo
