#include "blockzoo/data/batches.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "blockzoo/core/hash.h"
#include "data/content_hash.h"

namespace blockzoo {

namespace {

const TokenSource& at_least_one_window(const TokenSource& source, int64_t context) {
  if (context < 1) throw std::invalid_argument("a context of " + std::to_string(context) + " tokens");
  if (source.size() <= context)
    throw std::runtime_error(source.name() + " has " + std::to_string(source.size()) +
                             " tokens; one window of context " + std::to_string(context) + " needs " +
                             std::to_string(context + 1));
  return source;
}

uint64_t hash_window(std::span<const int64_t> tokens) {
  ContentHash hash;
  hash.update(std::as_bytes(tokens));
  return hash.digest();
}

/// Reads windows one by one into rows of inputs and targets.
class Rows {
 public:
  Rows(int64_t count, int64_t context)
      : inputs_(at::empty({count, context}, at::kLong)),
        targets_(at::empty({count, context}, at::kLong)),
        context_(context),
        window_(static_cast<size_t>(context) + 1) {}

  std::span<const int64_t> read(const TokenSource& source, int64_t start) {
    source.read(start, window_);
    std::copy_n(window_.begin(), context_, inputs_.mutable_data_ptr<int64_t>() + row_ * context_);
    std::copy_n(window_.begin() + 1, context_, targets_.mutable_data_ptr<int64_t>() + row_ * context_);
    ++row_;
    return window_;
  }

  const at::Tensor& inputs() const { return inputs_; }
  const at::Tensor& targets() const { return targets_; }

 private:
  at::Tensor inputs_;
  at::Tensor targets_;
  int64_t context_;
  int64_t row_ = 0;
  std::vector<int64_t> window_;
};

}  // namespace

Batches::Batches(std::shared_ptr<const TokenSource> source, BatchShape shape, uint64_t seed)
    : source_(std::move(source)),
      shape_(shape),
      order_(at_least_one_window(*source_, shape.context).size(), shape.context, seed) {
  if (shape.windows < 1) throw std::invalid_argument("a batch of " + std::to_string(shape.windows) + " windows");
}

Batch Batches::slice(int64_t step, int64_t first, int64_t count) const {
  if (step < 0 || first < 0 || count < 1 || first + count > shape_.windows)
    throw std::out_of_range("windows " + std::to_string(first) + " to " + std::to_string(first + count) + " of step " +
                            std::to_string(step) + "; a batch has " + std::to_string(shape_.windows));
  Rows rows(count, shape_.context);
  uint64_t hash = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = step * shape_.windows + first + i;
    const auto window = rows.read(*source_, order_.start(position));
    hash += mix(hash_window(window) ^ mix(static_cast<uint64_t>(position)));
  }
  return {rows.inputs(), rows.targets(), hash};
}

ValidationWindows::ValidationWindows(std::shared_ptr<const TokenSource> source, int64_t context, int64_t count)
    : source_(std::move(source)),
      context_(context),
      starts_(even_windows(at_least_one_window(*source_, context).size(), context, count)) {}

EvalBatch ValidationWindows::read(int64_t first, int64_t count) const {
  count = std::min(count, size() - first);
  if (first < 0 || count < 1)
    throw std::out_of_range("validation window " + std::to_string(first) + " of " + std::to_string(size()));
  Rows rows(count, context_);
  for (int64_t i = 0; i < count; ++i) rows.read(*source_, starts_[static_cast<size_t>(first + i)]);
  EvalBatch batch{rows.inputs(), rows.targets(), {}};
  if (!source_->has_lookback()) return batch;

  batch.marked = at::empty({count, context_}, at::kBool);
  auto* marked = batch.marked.mutable_data_ptr<bool>();
  std::vector<int64_t> lookback(static_cast<size_t>(context_));
  for (int64_t i = 0; i < count; ++i) {
    source_->read_lookback(starts_[static_cast<size_t>(first + i)] + 1, lookback);
    for (int64_t t = 0; t < context_; ++t) {
      const int64_t back = lookback[static_cast<size_t>(t)];
      *marked++ = back > 0 && back <= t + 1;
    }
  }
  return batch;
}

uint64_t ValidationWindows::hash() const {
  uint64_t hash = 0;
  std::vector<int64_t> window(static_cast<size_t>(context_) + 1);
  for (const int64_t start : starts_) {
    source_->read(start, window);
    hash = mix(hash ^ hash_window(window));
  }
  return hash;
}

std::optional<double> ValidationWindows::bytes_per_token() const {
  int64_t bytes = 0;
  for (const int64_t start : starts_) {
    const auto count = source_->text_bytes(start + 1, context_);
    if (!count) return std::nullopt;
    bytes += *count;
  }
  return static_cast<double>(bytes) / static_cast<double>(tokens());
}

std::optional<double> ValidationWindows::entropy_bound() const {
  std::vector<int64_t> targets;
  for (const int64_t start : starts_) targets.push_back(start + 1);
  const auto nats = source_->information(targets, context_);
  if (!nats) return std::nullopt;
  return *nats / static_cast<double>(tokens());
}

}  // namespace blockzoo
