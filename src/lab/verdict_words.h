#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blockzoo/lab/verdict.h"

namespace blockzoo {

/// Whether the differences bear out what the study expects, as a sentence.
std::string in_words(const HypothesisConfig& hypothesis, const Comparison& comparison);

/// A judgement as sentences, the most important first.
std::vector<std::string> in_words(const Judgement& judgement);

/// The same of a comparison; empty without a difference.
std::string in_words(const Comparison& comparison);

/// "+0.0960 nats per token (95 % interval -0.0512 to +0.2432 over 3 seeds; p 0.21 after correction)".
std::string in_words(const PairedDifference& difference, double adjusted_p, Measure measure);

/// "difference_nats" or "difference_bits_per_byte".
std::string difference_column(Measure measure);

/// "-0.0512 to +0.2432", or "-".
std::string shown(const std::optional<Interval>& interval);

/// Every comparison as a table, with the conventions of its columns; empty when there is none.
std::string comparisons_markdown(const Judgement& judgement);

/// A line a comparison: which ("best" or "same point"), both settings, difference, intervals, p values, verdict,
/// reason.
std::string comparisons_csv(const Judgement& judgement);

}  // namespace blockzoo
