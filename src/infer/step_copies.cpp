#include "infer/step_copies.h"

#include <ATen/ATen.h>

namespace blockzoo {
namespace {

// Tokens of one text in whose steps a copy saves more time than it takes.
constexpr int64_t kWorthLargest = 16;
constexpr int64_t kWorthCompact = 64;

std::optional<LargestOutputs> largest_logits(const ModelImpl& model, const GenerateOptions& options, int64_t texts) {
  const bool enough = texts == 1 && takes_largest(options.sampling) && !options.log_probabilities;
  return enough && options.tokens >= kWorthLargest ? model.largest_logits() : std::nullopt;
}

std::vector<Tensor> worth_compacting(const ModelImpl& model, const GenerateOptions& options, int64_t texts,
                                     bool with_head) {
  return texts == 1 && options.tokens >= kWorthCompact ? model.matrices(with_head) : std::vector<Tensor>();
}

}  // namespace

StepCopies::StepCopies(const ModelImpl& model, const GenerateOptions& options, int64_t texts)
    : largest_(largest_logits(model, options, texts)),
      saved_by_largest_(largest_ ? largest_->saved_bytes() : 0),
      compact_(worth_compacting(model, options, texts, !largest_)) {}

}  // namespace blockzoo
