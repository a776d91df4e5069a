#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
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

/// What is taken to be in memory for the backward pass.
enum class KeptActivations {
  kTextbook,   // every operator's output, once, by a formula; all of weights, gradients, moments and these at a time
  kFused,      // what this program's fast kernels keep on the CPU; the most at a time
  kReference,  // what LibTorch's operators keep on the CPU (train.kernels: reference); the most at a time
};

constexpr auto names(KeptActivations) {
  using enum KeptActivations;
  return std::to_array<std::pair<KeptActivations, std::string_view>>(
      {{kTextbook, "textbook"}, {kFused, "fused"}, {kReference, "reference"}});
}

/// What is asked for, and by which convention it is counted.
struct AccountQuery {
  int64_t batch = 1;
  std::optional<int64_t> context;  // tokens of a sequence; the model's context unless set
  Precision precision = Precision::kFloat32;
  OptimizerState optimizer = OptimizerState::kAdamw;
  AttentionPairs pairs = AttentionPairs::kAll;
  KeptActivations kept = KeptActivations::kTextbook;
  int64_t logit_copies = 1;  // textbook: [T, V] arrays that are kept for the backward pass; 2 with one of the loss
};

/// Bytes that training needs by the textbook. Weights, gradients and moments are float32; with bfloat16 there is a copy
/// of the matrices too, and activations take two bytes. Activations are the output of every norm, matrix product,
/// activation and product of the model, the token table's excepted, kept once for the backward pass; what an
/// implementation keeps beside them (masks, statistics) or recomputes is not in the figure.
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

/// Bytes of one update of this program on the CPU, followed array by array as its operators and LibTorch's autograd
/// make and free them. The batch is read in one part (train.accumulation 1); data and what libraries allocate by
/// themselves are not in it. Of what LibTorch's allocator measures, at most a tenth off
/// (tests/lab/measured_memory.cpp).
struct UpdateMemory {
  double weights = 0;
  double gradients = 0;  // there from the backward pass to the optimizer's step
  double moments = 0;
  double tables = 0;   // of positions: no parameters
  double kept = 0;     // beside those when the backward pass begins, copies of weights in bfloat16 among it
  double peak = 0;     // the most at a time, of everything
  std::string moment;  // when that is
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
  ModelConfig model;
  AccountQuery query;
  int64_t context = 0;
  ParameterCount parameters;
  Flops forward;               // of one sequence
  double cache_per_token = 0;  // bytes of keys and values that one more token adds, windows not yet full
  double cache = 0;            // bytes for one sequence of `context` tokens
  TrainingMemory memory;
  std::optional<UpdateMemory> update;  // unless it is asked for by the textbook
  Work prefill;                        // of `batch` sequences
  Work decode;                         // one more token for each of `batch` sequences of `context` tokens

  double training_flops() const;  // of one update: 3 x forward
  /// The largest batch whose update fits into `bytes`, where `update` is there; 0 when none does.
  int64_t largest_update(double bytes) const;
};

/// Errors: ConfigError when the config does not fit together.
Account account_of(const ModelConfig& config, const AccountQuery& query);

}  // namespace blockzoo
