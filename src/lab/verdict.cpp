#include "blockzoo/lab/verdict.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "lab/points.h"
#include "lab/verdict_words.h"

namespace blockzoo {
namespace {

constexpr double kSignificance = 0.05;

std::vector<double> losses_of(const StudyPoint& point) {
  std::vector<double> losses;
  for (const auto* record : point.records) losses.push_back(record->validation->loss);
  return losses;
}

/// Why the two did not train and validate alike; empty when they did.
std::string unlike(const StudyPoint& arm, const StudyPoint& base) {
  if (arm.records.size() != base.records.size()) return "its seeds are not the base's";
  for (size_t i = 0; i < arm.records.size(); ++i) {
    const auto &one = *arm.records[i], &other = *base.records[i];
    if (one.data_hash != other.data_hash) return "its data is not the base's";
    if (one.validation_hash != other.validation_hash) return "its validation windows are not the base's";
    if (one.tokens != other.tokens)
      return fmt::format("it trained on {} tokens and the base on {}", one.tokens, other.tokens);
  }
  return "";
}

/// Bootstrap over windows of arm - base, each window's difference being the mean over seeds.
std::optional<Interval> over_windows(const StudyPoint& arm, const StudyPoint& base) {
  std::vector<double> differences(arm.records.front()->validation->window_losses.size());
  if (differences.empty()) return std::nullopt;
  for (size_t i = 0; i < arm.records.size(); ++i) {
    const auto& one = arm.records[i]->validation->window_losses;
    const auto& other = base.records[i]->validation->window_losses;
    if (one.size() != differences.size() || other.size() != differences.size()) return std::nullopt;
    for (size_t w = 0; w < differences.size(); ++w)
      differences[w] += (one[w] - other[w]) / static_cast<double>(arm.records.size());
  }
  return bootstrap_interval(differences);
}

/// All of a comparison but the correction for being one of several and what follows from it.
Comparison compared(const StudyPoint& arm, const StudyPoint& base) {
  Comparison result{.arm = arm.arm, .sweep = arm.sweep, .base_sweep = base.sweep};
  if (!arm.complete()) {
    result.verdict = arm.count(RunStatus::kDiverged) > 0 ? Verdict::kDiverged : Verdict::kNotComparable;
    result.reason = arm.what_is_missing();
    return result;
  }
  result.reason = base.complete() ? unlike(arm, base) : "of the base, " + base.what_is_missing();
  if (!result.reason.empty()) return result;
  result.verdict = Verdict::kNoDifferenceShown;
  const auto ours = losses_of(arm), theirs = losses_of(base);
  result.difference = paired_difference(ours, theirs);
  result.over_windows = over_windows(arm, base);
  if (ours == theirs) {
    result.reason = "its losses equal the base's to the last digit, so what differs may not act at all";
  } else if (!result.difference) {
    result.reason = "one seed cannot tell a difference from noise";
  }
  return result;
}

/// Holm's correction over those that have a p value, and the words that follow from it.
void correct(std::vector<Comparison*> judged) {
  std::erase_if(judged, [](const auto* one) { return !one->difference; });
  std::vector<double> p;
  for (const auto* one : judged) p.push_back(one->difference->p);
  const auto adjusted = holm(p);
  for (size_t i = 0; i < judged.size(); ++i) {
    auto& one = *judged[i];
    one.adjusted_p = adjusted[i];
    if (one.adjusted_p < kSignificance) one.verdict = one.difference->mean < 0 ? Verdict::kBetter : Verdict::kWorse;
  }
}

/// The complete point of lowest mean loss, else one that says why there is none.
const StudyPoint& best_of(const std::vector<StudyPoint>& points, const std::string& arm) {
  const StudyPoint* best = nullptr;
  const auto mean = [](const StudyPoint& point) { return spread_of(losses_of(point)).mean; };
  for (const auto& point : points) {
    if (point.arm != arm) continue;
    const bool better = best == nullptr || (point.complete() && (!best->complete() || mean(point) < mean(*best)));
    if (better) best = &point;
  }
  return *best;
}

std::vector<RateSensitivity> sensitivities(const std::vector<StudyPoint>& points,
                                           const std::vector<std::string>& arms) {
  std::vector<RateSensitivity> result;
  for (const auto& arm : arms) {
    std::vector<double> losses, starts;
    bool all_known = true;
    for (const auto& point : points) {
      if (point.arm != arm) continue;
      if (point.sweep.size() != 1 || !point.sweep.front().path.ends_with(".lr")) return {};
      all_known = all_known && point.closed();
      losses.push_back(point.complete() ? spread_of(losses_of(point)).mean : std::nan(""));
      for (const auto* record : point.records) starts.push_back(record->first_loss);
    }
    if (losses.size() < 2 || !all_known) continue;
    if (const auto nats = lr_sensitivity(losses, spread_of(starts).mean)) result.push_back({arm, *nats});
  }
  return result;
}

}  // namespace

Judgement judge(const Study& study, const std::vector<RunOutcome>& outcomes) {
  const auto points = points_of(study, outcomes);
  const auto arms = arms_of(points);
  Judgement judgement{.base = base_arm(study)};
  judgement.sensitivity = sensitivities(points, arms);
  if (!judgement.base.empty()) {
    const auto& base = best_of(points, judgement.base);
    if (base.complete()) {
      judgement.noise.base = spread_of(losses_of(base));
      if (const auto& deviation = judgement.noise.base.deviation)
        judgement.noise.smallest_difference =
            smallest_difference_shown(*deviation * std::numbers::sqrt2, judgement.noise.base.count);
    }
    for (const auto& arm : arms) {
      if (arm != judgement.base) judgement.best_against_best.push_back(compared(best_of(points, arm), base));
    }
    for (const auto& point : points) {
      if (point.arm == judgement.base || point.sweep.empty()) continue;
      const auto same = std::find_if(points.begin(), points.end(), [&](const StudyPoint& other) {
        return other.arm == judgement.base && other.sweep == point.sweep;
      });
      if (same != points.end()) judgement.same_point.push_back(compared(point, *same));
    }
    std::vector<Comparison*> best, same;
    for (auto& one : judgement.best_against_best) best.push_back(&one);
    for (auto& one : judgement.same_point) same.push_back(&one);
    correct(best);
    correct(same);
  }
  judgement.sentences = in_words(judgement);
  const auto has = [&](const std::string& arm) { return std::find(arms.begin(), arms.end(), arm) != arms.end(); };
  if (const auto& expected = study.hypothesis; has(expected.arm) && has(expected.better_than)) {
    const auto comparison = compared(best_of(points, expected.arm), best_of(points, expected.better_than));
    judgement.sentences.insert(judgement.sentences.begin(), in_words(expected, comparison));
  }
  return judgement;
}

}  // namespace blockzoo
