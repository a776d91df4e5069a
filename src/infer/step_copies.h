#pragma once

#include <optional>
#include <string>

#include "blockzoo/infer/generate.h"
#include "blockzoo/kernels/compact_weights.h"
#include "blockzoo/kernels/largest_outputs.h"

namespace blockzoo {

/// Copies of a model's matrices that the steps of generation read instead, where they are worth their making: of all in
/// fewer bytes, and of the head in 8 bits where the largest logit is all that is needed. They serve this thread while
/// they live; the model must not change.
class StepCopies {
 public:
  StepCopies(const ModelImpl& model, const GenerateOptions& options, int64_t texts);

  /// Finds the largest logit, or null.
  const LargestOutputs* largest() const { return largest_ ? &*largest_ : nullptr; }

  /// How many bytes fewer a step reads.
  int64_t saved_bytes() const { return saved_by_largest_ + compact_.saved_bytes(); }

  /// "16 matrices without loss in 88 % of their bytes, the head in 8 bits", or "none".
  std::string words() const;

 private:
  const std::optional<LargestOutputs> largest_;
  const int64_t saved_by_largest_;
  const CompactWeights compact_;
};

}  // namespace blockzoo
