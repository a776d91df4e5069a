#include "lab/contrast.h"

#include <spdlog/fmt/fmt.h>

namespace blockzoo {
namespace {

std::optional<Interval> over_windows(const std::vector<Term>& terms) {
  if (terms.front().point->measure == Measure::kBitsPerByte) return std::nullopt;  // windows are not of the same text
  std::vector<double> sums(terms.front().point->records.front()->validation->window_losses.size());
  if (sums.empty()) return std::nullopt;
  for (const auto& [point, weight] : terms) {
    for (const auto* record : point->records) {
      const auto& losses = record->validation->window_losses;
      if (losses.size() != sums.size()) return std::nullopt;
      for (size_t w = 0; w < sums.size(); ++w)
        sums[w] += weight * losses[w] / static_cast<double>(point->records.size());
    }
  }
  return bootstrap_interval(sums);
}

bool tokens_are_free(const StudyPoint& point) {
  return point.matched_by == MatchBy::kFlops || point.matched_by == MatchBy::kWallClock;
}

}  // namespace

Contrast contrast(const std::vector<Term>& terms) {
  std::vector<double> sums(terms.front().point->records.size());
  for (const auto& [point, weight] : terms) {
    const auto losses = point->losses();
    for (size_t seed = 0; seed < sums.size(); ++seed) sums[seed] += weight * losses[seed];
  }
  return {paired_difference(sums, std::vector<double>(sums.size())), over_windows(terms)};
}

std::string why_unlike(const StudyPoint& arm, const StudyPoint& base) {
  if (arm.records.size() != base.records.size()) return "its seeds are not the base's";
  for (size_t i = 0; i < arm.records.size(); ++i) {
    const auto &one = *arm.records[i], &other = *base.records[i];
    if (one.tokenizer != other.tokenizer) {
      if (one.text_hash.empty() || one.text_hash != other.text_hash) return "its text is not the base's";
    } else {
      if (one.data_hash != other.data_hash) return "its data is not the base's";
      if (one.validation_hash != other.validation_hash) return "its validation windows are not the base's";
    }
    if (one.tokens != other.tokens && !tokens_are_free(arm) && !tokens_are_free(base))
      return fmt::format("it trained on {} tokens and the base on {}", one.tokens, other.tokens);
  }
  return "";
}

}  // namespace blockzoo
