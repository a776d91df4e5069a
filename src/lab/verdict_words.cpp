#include "lab/verdict_words.h"

#include <spdlog/fmt/fmt.h>

#include "blockzoo/core/names.h"
#include "lab/factorial.h"
#include "lab/parts.h"
#include "lab/sweep.h"

namespace blockzoo {
namespace {

std::string at_point(const std::vector<SweepValue>& sweep) { return sweep.empty() ? "" : " at " + in_words(sweep); }

std::string sentence(const Comparison& one, const std::string& base) {
  const auto arm = one.arm + at_point(one.sweep), against = base + at_point(one.base_sweep);
  const auto figures = in_words(one);
  switch (one.verdict) {
    case Verdict::kBetter:
    case Verdict::kWorse:
      return fmt::format("{} is {} than {}: {}.", arm, name_of(one.verdict), against, figures);
    case Verdict::kNoDifferenceShown:
      return fmt::format("{} against {}: no difference shown{}{}.", arm, against, figures.empty() ? "" : ", " + figures,
                         one.reason.empty() ? "" : "; " + one.reason);
    case Verdict::kDiverged:
      return fmt::format("{} diverged: {}.", arm, one.reason);
    case Verdict::kNotComparable:
      break;
  }
  return fmt::format("{} is not comparable with {}: {}.", arm, against, one.reason);
}

/// Without its closing bracket.
std::string opened(const PairedDifference& difference, Measure measure) {
  return fmt::format("{:+.4f} {} (95 % interval {:+.4f} to {:+.4f} over {} seeds", difference.mean, name_of(measure),
                     difference.interval.low, difference.interval.high, difference.pairs);
}

std::string noise_sentence(const Judgement& judgement) {
  const auto& noise = judgement.noise;
  if (!noise.base.deviation) return "";
  auto text = fmt::format("Noise: over {} seeds the losses of {} have a standard deviation of {:.4f} {}",
                          noise.base.count, judgement.base, *noise.base.deviation, name_of(judgement.measure));
  if (noise.smallest_difference)
    text += fmt::format(
        "; where an arm varies as much and on its own, differences below {:.4f} are found less than four times in five",
        *noise.smallest_difference);
  return text + ".";
}

}  // namespace

std::string in_words(const PairedDifference& difference, double adjusted_p, Measure measure) {
  return fmt::format("{}; p {:.2g} after correction)", opened(difference, measure), adjusted_p);
}

std::string difference_column(Measure measure) {
  return measure == Measure::kNatsPerToken ? "difference_nats" : "difference_bits_per_byte";
}

std::string in_words(const Comparison& comparison) {
  return comparison.difference ? in_words(*comparison.difference, comparison.adjusted_p, comparison.measure) : "";
}

std::string in_words(const HypothesisConfig& hypothesis, const Comparison& comparison) {
  auto text = fmt::format("Hypothesis, {} is better than {}", hypothesis.arm, hypothesis.better_than);
  if (hypothesis.by_at_least_nats > 0) text += fmt::format(" by at least {} nats", hypothesis.by_at_least_nats);
  if (!comparison.difference) return text + ": cannot be judged, " + comparison.reason + ".";
  if (hypothesis.by_at_least_nats > 0 && comparison.measure == Measure::kBitsPerByte)
    return text + ": cannot be judged, the arms have different tokenizers, and nats per token do not compare.";
  const auto& interval = comparison.difference->interval;
  const double limit = -hypothesis.by_at_least_nats;
  const bool borne_out = interval.high < 0 && interval.high <= limit;
  const auto* word = borne_out ? "borne out" : interval.low > limit ? "contradicted" : "neither shown nor contradicted";
  return fmt::format("{}: {}, each at its best, {}).", text, word, opened(*comparison.difference, comparison.measure));
}

std::vector<std::string> in_words(const Judgement& judgement) {
  if (judgement.base.empty()) return {"No arm is the base itself, so nothing is judged: an arm {} would be the base."};
  std::vector<std::string> sentences;
  if (judgement.measure == Measure::kBitsPerByte)
    sentences.push_back(
        "The tokenizers differ, so losses are compared in bits per byte: nats per token of different tokens do not "
        "compare.");
  const bool swept = !judgement.same_point.empty();
  for (const auto& one : judgement.best_against_best)
    sentences.push_back((swept ? "Each at its best: " : "") + sentence(one, judgement.base));
  for (const auto& one : judgement.same_point) sentences.push_back("Same setting: " + sentence(one, judgement.base));
  for (const auto& one : judgement.by_part) sentences.push_back(in_words(one, judgement.base));
  for (const auto& effect : judgement.factorial) sentences.push_back(in_words(effect));
  for (const auto& [arm, nats] : judgement.sensitivity)
    sentences.push_back(fmt::format("Sensitivity of {} to the learning rate: {:.4f} nats per token.", arm, nats));
  if (const auto noise = noise_sentence(judgement); !noise.empty()) sentences.push_back(noise);
  return sentences;
}

}  // namespace blockzoo
