#include "lab/points.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace blockzoo {
namespace {

double loss_in(Measure measure, const RunRecord& record) {
  if (record.status != RunStatus::kFinished || !record.validation) return std::nan("");
  if (measure == Measure::kBitsPerByte) return record.validation->bits_per_byte.value_or(std::nan(""));
  return record.validation->loss;
}

bool finished(Measure measure, const RunRecord& record) { return std::isfinite(loss_in(measure, record)); }

bool is_swept(const std::string& path, const PlannedRun& run) {
  return std::any_of(run.sweep.begin(), run.sweep.end(),
                     [&](const SweepValue& value) { return path == value.path || path.starts_with(value.path + "."); });
}

}  // namespace

int64_t StudyPoint::count(RunStatus status) const {
  return std::count_if(records.begin(), records.end(), [&](const auto* record) { return record->status == status; });
}

bool StudyPoint::complete() const {
  return std::all_of(records.begin(), records.end(), [&](const auto* record) { return finished(measure, *record); });
}

std::vector<double> StudyPoint::losses() const {
  std::vector<double> losses;
  for (const auto* record : records) losses.push_back(loss_in(measure, *record));
  return losses;
}

bool StudyPoint::closed() const {
  return std::all_of(records.begin(), records.end(), [&](const auto* record) {
    return finished(measure, *record) || record->status == RunStatus::kDiverged;
  });
}

std::string StudyPoint::what_is_missing() const {
  const auto of_all = [&](int64_t some, const char* what) {
    return fmt::format("{} of {} {} {}", some, records.size(), records.size() == 1 ? "run" : "seeds", what);
  };
  if (const auto diverged = count(RunStatus::kDiverged)) return of_all(diverged, "diverged");
  const auto missing =
      std::count_if(records.begin(), records.end(), [&](const auto* r) { return !finished(measure, *r); });
  return of_all(missing, missing == 1 ? "is not finished" : "are not finished");
}

Measure measure_of(const std::vector<RunOutcome>& outcomes) {
  std::set<std::string> tokenizers;
  for (const auto& outcome : outcomes)
    if (outcome.record.begun()) tokenizers.insert(outcome.record.tokenizer);
  return tokenizers.size() > 1 ? Measure::kBitsPerByte : Measure::kNatsPerToken;
}

std::vector<StudyPoint> points_of(const Study& study, const std::vector<RunOutcome>& outcomes) {
  std::vector<StudyPoint> points;
  const auto measure = measure_of(outcomes);
  for (size_t i = 0; i < study.runs.size(); ++i) {
    const auto& run = study.runs[i];
    const bool fresh = i == 0 || run.folder.parent_path() != study.runs[i - 1].folder.parent_path();
    if (fresh) points.push_back({run.arm, run.sweep, {}, run.match ? run.match->by : MatchBy::kNone, measure});
    points.back().records.push_back(&outcomes[i].record);
  }
  return points;
}

std::vector<std::string> arms_of(const std::vector<StudyPoint>& points) {
  std::vector<std::string> arms;
  for (const auto& point : points) {
    if (arms.empty() || arms.back() != point.arm) arms.push_back(point.arm);
  }
  return arms;
}

std::string base_arm(const Study& study) {
  for (const auto& run : study.runs) {
    const bool same = std::all_of(run.differences.begin(), run.differences.end(),
                                  [&](const Difference& one) { return is_swept(one.path, run); });
    if (same) return run.arm;
  }
  return "";
}

}  // namespace blockzoo
