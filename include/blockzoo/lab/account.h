#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "blockzoo/nn/flops.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/precision.h"

namespace blockzoo {

/// What an optimizer keeps beside a parameter, in float32: nothing, one moment, or two.
enum class OptimizerState { kSgd, kMomentum, kAdamw };

constexpr auto names(OptimizerState) {
  using enum OptimizerState;
  return std::to_array<std::pair<OptimizerState, std::string_view>>(
      {{kSgd, "sgd"}, {kMomentum, "momentum"}, {kAdamw, "adamw"}});
}

/// Whether a gated feed-forward sublayer keeps its activation f(W_gate x) beside gate, up and their product.
enum class KeptActivations {
  kTextbook,  // it does
  kFused,     // it does not: this program's fast kernels compute it anew in the backward pass
};

constexpr auto names(KeptActivations) {
  using enum KeptActivations;
  return std::to_array<std::pair<KeptActivations, std::string_view>>({{kTextbook, "textbook"}, {kFused, "fused"}});
}

/// What is asked for, and by which convention it is counted.
struct AccountQuery {
  int64_t batch = 1;
  std::optional<int64_t> context;  // tokens of a sequence; the model's context unless set
  Precision precision = Precision::kFloat32;
  OptimizerState optimizer = OptimizerState::kAdamw;
  AttentionPairs pairs = AttentionPairs::kAll;
  KeptActivations kept = KeptActivations::kTextbook;
  int64_t logit_copies = 1;  // [T, V] arrays that are kept for the backward pass; 2 when the loss keeps one of its own
};

/// Bytes that training needs. Weights, gradients and moments are float32; with bfloat16 there is a copy of the matrices
/// too, and activations take two bytes. Activations are the output of every norm, matrix product, activation and
/// product of the model, the token table's excepted, kept once for the backward pass; what an implementation keeps
/// beside them (masks, statistics) or recomputes is not in the figure.
struct TrainingMemory {
  double weights = 0;
  double weight_copies = 0;
  double gradients = 0;
  double moments = 0;
  double activations = 0;  // of one sequence, without scores
  double scores = 0;  // of one sequence: scores and attention weights [H, T, T] of every layer, where they are stored

  double fixed() const { return weights + weight_copies + gradients + moments; }
  double of_batch(int64_t batch, bool stored_scores) const;
  /// The largest batch that fits into `bytes`; 0 when none does.
  int64_t largest_batch(double bytes, bool stored_scores) const;
};

/// Work of a forward pass: operations, and the bytes of weights and cache that must pass through memory for them.
struct Work {
  double flops = 0;
  double bytes = 0;
  double intensity() const { return flops / bytes; }  // FLOP a byte
  /// The time below which no device can stay: seconds.
  double least_seconds(double flops_per_s, double bytes_per_s) const;
};

/// What a model costs.
struct Account {
  AccountQuery query;
  int64_t context = 0;
  ParameterCount parameters;
  Flops forward;               // of one sequence
  double cache_per_token = 0;  // bytes of keys and values that one more token adds, windows not yet full
  double cache = 0;            // bytes for one sequence of `context` tokens
  TrainingMemory memory;
  Work prefill;  // of `batch` sequences
  Work decode;   // one more token for each of `batch` sequences of `context` tokens

  double training_flops() const;  // of one update: 3 x forward
};

/// Errors: ConfigError when the config does not fit together.
Account account_of(const ModelConfig& config, const AccountQuery& query);

}  // namespace blockzoo
