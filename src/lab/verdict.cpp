#include "blockzoo/lab/verdict.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "lab/contrast.h"
#include "lab/factorial.h"
#include "lab/parts.h"
#include "lab/points.h"
#include "lab/verdict_words.h"

namespace blockzoo {
namespace {

/// All of a comparison but the correction for being one of several and what follows from it.
Comparison compared(const StudyPoint& arm, const StudyPoint& base) {
  Comparison result{.arm = arm.arm, .sweep = arm.sweep, .base_sweep = base.sweep, .measure = arm.measure};
  if (!arm.complete()) {
    result.verdict = arm.count(RunStatus::kDiverged) > 0 ? Verdict::kDiverged : Verdict::kNotComparable;
    result.reason = arm.what_is_missing();
    return result;
  }
  result.reason = base.complete() ? why_unlike(arm, base) : "of the base, " + base.what_is_missing();
  if (!result.reason.empty()) return result;
  result.verdict = Verdict::kNoDifferenceShown;
  const auto found = contrast({{&arm, 1}, {&base, -1}});
  result.difference = found.over_seeds;
  result.over_windows = found.over_windows;
  if (arm.losses() == base.losses()) {
    result.reason = "its losses equal the base's to the last digit, so what differs may not act at all";
  } else if (!result.difference) {
    result.reason = "one seed cannot tell a difference from noise";
  }
  return result;
}

/// The complete point of lowest mean loss, else one that says why there is none.
const StudyPoint& best_of(const std::vector<StudyPoint>& points, const std::string& arm) {
  const StudyPoint* best = nullptr;
  const auto mean = [](const StudyPoint& point) { return spread_of(point.losses()).mean; };
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
      losses.push_back(point.complete() ? spread_of(point.losses()).mean : std::nan(""));
      if (point.measure == Measure::kBitsPerByte) return {};  // a first loss is known in nats per token only
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
  Judgement judgement{.base = base_arm(study), .measure = measure_of(outcomes)};
  judgement.sensitivity = sensitivities(points, arms);
  if (!study.factors.empty()) {
    std::map<std::string, const StudyPoint*> best;
    for (const auto& arm : arms) best[arm] = &best_of(points, arm);
    judgement.factorial = factorial_effects(study.factors, best);
  }
  if (!judgement.base.empty()) {
    const auto& base = best_of(points, judgement.base);
    if (base.complete()) {
      judgement.noise.base = spread_of(base.losses());
      if (const auto& deviation = judgement.noise.base.deviation)
        judgement.noise.smallest_difference =
            smallest_difference_shown(*deviation * std::numbers::sqrt2, judgement.noise.base.count);
    }
    for (const auto& arm : arms) {
      if (arm == judgement.base) continue;
      const auto& best = best_of(points, arm);
      judgement.best_against_best.push_back(compared(best, base));
      if (judgement.best_against_best.back().verdict != Verdict::kNoDifferenceShown) continue;  // does not compare
      for (auto& part : compared_by_part(best, base)) judgement.by_part.push_back(std::move(part));
    }
    for (const auto& point : points) {
      if (point.arm == judgement.base || point.sweep.empty()) continue;
      const auto same = std::find_if(points.begin(), points.end(), [&](const StudyPoint& other) {
        return other.arm == judgement.base && other.sweep == point.sweep;
      });
      if (same != points.end()) judgement.same_point.push_back(compared(point, *same));
    }
    correct_for_being_several(judgement.by_part);
    correct_for_being_several(judgement.best_against_best);
    correct_for_being_several(judgement.same_point);
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
