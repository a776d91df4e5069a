#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "blockzoo/data/token_source.h"
#include "blockzoo/data/windows.h"

namespace blockzoo {

/// Windows to train on, on the CPU.
/// Shapes: inputs [B, T], targets [B, T], both int64 and contiguous; targets[b, t] follows inputs[b, t] in the text.
struct Batch {
  at::Tensor inputs;
  at::Tensor targets;

  /// A sum over windows of a hash of (position in the run, tokens). Sums of it over steps, over slices and over resumed
  /// parts of a run therefore agree, and differ when the order or the text does.
  uint64_t hash = 0;
};

struct BatchShape {
  int64_t windows = 0;  // B, of one optimizer step
  int64_t context = 0;  // T
};

/// Training batches: a pure function of (data, shape, seed, step), so a run resumes exactly at any step. The order is
/// WindowOrder's, at position step * B + b.
class Batches {
 public:
  /// Errors: std::runtime_error with both numbers when the source is too short for one window.
  Batches(std::shared_ptr<const TokenSource> source, BatchShape shape, uint64_t seed);

  Batch batch(int64_t step) const { return slice(step, 0, shape_.windows); }

  /// Windows first .. first + count - 1 of that step's batch, for gradient accumulation.
  Batch slice(int64_t step, int64_t first, int64_t count) const;

  BatchShape shape() const { return shape_; }
  int64_t windows_per_epoch() const { return order_.windows_per_epoch(); }

 private:
  std::shared_ptr<const TokenSource> source_;
  BatchShape shape_;
  WindowOrder order_;
};

/// Shapes: inputs, targets [B, T] int64; marked [B, T] bool, undefined when the corpus marks nothing.
struct EvalBatch {
  at::Tensor inputs;
  at::Tensor targets;
  at::Tensor marked;  // the target belongs to a repeated name whose last mention lies whole in this window's inputs
};

/// The validation set: windows whose targets do not overlap, the same for all arms, since they depend on the data, the
/// context and the count only.
class ValidationWindows {
 public:
  /// At most `count` windows; 0 means all that fit.
  /// Errors: std::runtime_error with both numbers when the source is too short for one window.
  ValidationWindows(std::shared_ptr<const TokenSource> source, int64_t context, int64_t count);

  int64_t size() const { return static_cast<int64_t>(starts_.size()); }
  int64_t context() const { return context_; }
  int64_t tokens() const { return size() * context_; }  // targets of all windows

  /// Windows first .. first + count - 1; fewer at the end.
  EvalBatch read(int64_t first, int64_t count) const;

  /// Of every token that is read; it goes in the record beside the losses.
  uint64_t hash() const;

  /// Mean bytes of text that a target stands for; absent where tokens are no text.
  std::optional<double> bytes_per_token() const;

  /// The least mean loss that a model can expect here, nats per token: the information of the targets, given all of the
  /// text before them, over their number. A model sees at most its window, so it knows less. Absent unless generated.
  std::optional<double> entropy_bound() const;

 private:
  std::shared_ptr<const TokenSource> source_;
  int64_t context_;
  std::vector<int64_t> starts_;
};

}  // namespace blockzoo
