#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// What the queries of one sequence see in one layer, as the formula of attend() has it. Without a graph.
/// Precision: float32 or wider.
struct ObservedAttention {
  int64_t layer = 0;  // counted from 0, as the innermost AttentionLayerScope says
  int64_t row = 0;    // of the batch
  Tensor scores;      // [H, T, S]: cap(scale q k^T) + bias; -infinity where a query does not see a key
  Tensor weights;     // [H, T, S]: softmax(scores) before dropout; each row sums to one
};

/// Hears of every attend() on its thread while it lives; the one made last hears, and the one before it again
/// afterwards. attend() then goes by the formula, and what it returns comes from the very weights that are heard. It
/// takes one sequence of the batch at a time, so that the scores of one are in memory and not those of the batch.
/// Dropout draws other numbers than it would unobserved: observe in evaluation mode.
///
///   struct LargestScore final : AttentionObserver {
///     std::map<int64_t, double> by_layer;
///     void attended(const ObservedAttention& seen) override {
///       auto& largest = by_layer.try_emplace(seen.layer, -INFINITY).first->second;
///       largest = std::max(largest, seen.scores.max().item<double>());
///     }
///   };
///   LargestScore observer;
///   model->forward(tokens);
class AttentionObserver {
 public:
  AttentionObserver();
  virtual ~AttentionObserver();
  AttentionObserver(const AttentionObserver&) = delete;
  AttentionObserver& operator=(const AttentionObserver&) = delete;

  virtual void attended(const ObservedAttention& seen) = 0;

  /// Who hears on this thread; null when nobody does.
  static AttentionObserver* current();

 private:
  AttentionObserver* const before_;
};

/// Says which layer calls attend() on this thread while it lives. The model makes one for each layer.
class AttentionLayerScope {
 public:
  explicit AttentionLayerScope(int64_t layer);
  ~AttentionLayerScope();
  AttentionLayerScope(const AttentionLayerScope&) = delete;
  AttentionLayerScope& operator=(const AttentionLayerScope&) = delete;

  static int64_t current();  // 0 where no scope is

 private:
  const int64_t before_;
};

}  // namespace blockzoo
