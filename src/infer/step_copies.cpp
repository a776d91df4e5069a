#include "infer/step_copies.h"

#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <vector>

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

std::string StepCopies::words() const {
  std::vector<std::string> words;
  if (compact_.count() > 0) {
    const auto left = static_cast<double>(compact_.matrix_bytes() - compact_.saved_bytes());
    words.push_back(fmt::format("{} matrices without loss in {:.0f} % of their bytes", compact_.count(),
                                100 * left / static_cast<double>(compact_.matrix_bytes())));
  }
  if (largest_) words.emplace_back("the head in 8 bits");
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace blockzoo
