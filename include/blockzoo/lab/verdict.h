#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blockzoo/lab/ablate.h"
#include "blockzoo/lab/statistics.h"

namespace blockzoo {

/// What a comparison with the base says, in one word.
enum class Verdict { kBetter, kWorse, kNoDifferenceShown, kDiverged, kNotComparable };

constexpr auto names(Verdict) {
  using enum Verdict;
  return std::to_array<std::pair<Verdict, std::string_view>>({{kBetter, "better"},
                                                              {kWorse, "worse"},
                                                              {kNoDifferenceShown, "no difference shown"},
                                                              {kDiverged, "diverged"},
                                                              {kNotComparable, "not comparable"}});
}

/// What validation losses are given in. Nats per token compare only where a token is the same piece of text, so arms
/// with different tokenizers are held against each other in bits per byte.
enum class Measure { kNatsPerToken, kBitsPerByte };

constexpr auto names(Measure) {
  using enum Measure;
  return std::to_array<std::pair<Measure, std::string_view>>(
      {{kNatsPerToken, "nats per token"}, {kBitsPerByte, "bits per byte"}});
}

/// One arm at one point of the sweep beside the base at one point, paired by seed. Losses are validation losses of the
/// last step; differences are arm - base, so that below zero is better.
struct Comparison {
  std::string arm;
  std::vector<SweepValue> sweep;       // the arm's point
  std::vector<SweepValue> base_sweep;  // the base's point
  std::optional<PairedDifference> difference;
  std::optional<Interval> over_windows;  // bootstrap over validation windows of the mean difference over seeds
  double adjusted_p = 1;                 // Holm, over the arms that are judged together
  Verdict verdict = Verdict::kNotComparable;
  std::string reason;  // a sentence, where the word needs one
  Measure measure = Measure::kNatsPerToken;
};

/// A level other than its factor's first.
struct FactorLevel {
  std::string factor;
  std::string level;
};

/// What one level does to the validation loss (a main effect), or what several do together beyond their own effects (an
/// interaction):
///   effect(a) = mean of loss(a) - loss(0), where 0 is the first level,
///   interaction(a, b) = mean of loss(a, b) - loss(a, 0) - loss(0, b) + loss(0, 0),
/// and so on with alternating signs; the mean is over all levels of the other factors. Paired by seed.
/// Source: Fisher 1935, The Design of Experiments. Differs from the source: interactions are not halved.
struct FactorialEffect {
  std::vector<FactorLevel> of;
  std::optional<PairedDifference> difference;
  std::optional<Interval> over_windows;
  double adjusted_p = 1;  // Holm, over all effects
  Verdict verdict = Verdict::kNotComparable;
  std::string reason;
  Measure measure = Measure::kNatsPerToken;
};

/// A comparison of Comparison's kind on one part of the validation text, in bits per byte. Stories have two: the bytes
/// of names that were said before in the window, which can only be copied from there, and all others.
struct PartComparison {
  std::string part;  // "repeated names" or "elsewhere"
  std::string arm;
  std::vector<SweepValue> sweep;
  std::vector<SweepValue> base_sweep;
  Spread base_loss;  // bits per byte, over seeds
  Spread loss;
  std::optional<PairedDifference> difference;
  double adjusted_p = 1;  // Holm, over all arms and parts
  Verdict verdict = Verdict::kNoDifferenceShown;
};

/// How one arm behaves over the learning rates of the sweep.
struct RateSensitivity {
  std::string arm;
  double nats = 0;
};

/// How far the base moves from seed to seed, which every difference is held against.
struct Noise {
  Spread base;                                // the base's best point
  std::optional<double> smallest_difference;  // 80 % power, when differences vary as the base does
};

struct Judgement {
  std::string base;                          // name of the arm that is the base
  Measure measure = Measure::kNatsPerToken;  // of all comparisons
  Noise noise;
  std::vector<Comparison> best_against_best;  // every other arm, each at its best point
  std::vector<Comparison> same_point;         // every other arm and point, the base at the same point
  std::vector<PartComparison> by_part;        // of best_against_best, where both were measured by part
  std::vector<FactorialEffect> factorial;     // of a factorial study, every arm at its best point
  std::vector<RateSensitivity> sensitivity;   // every arm, when the sweep is over learning rates alone
  std::vector<std::string> sentences;         // the verdict in words, most important first
};

Judgement judge(const Study& study, const std::vector<RunOutcome>& outcomes);

}  // namespace blockzoo
