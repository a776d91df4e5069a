#pragma once

#include <string>
#include <vector>

#include "blockzoo/lab/ablate.h"
#include "blockzoo/lab/verdict.h"

namespace blockzoo {

/// The runs of one arm at one point of the sweep, one for each seed, in the study's order of seeds.
struct StudyPoint {
  std::string arm;
  std::vector<SweepValue> sweep;
  std::vector<const RunRecord*> records;
  MatchBy matched_by = MatchBy::kNone;
  Measure measure = Measure::kNatsPerToken;  // the same for every point of a study

  int64_t count(RunStatus status) const;
  /// Every seed finished, with a finite validation loss in the study's measure.
  bool complete() const;
  /// Validation losses, one of each seed. The point must be complete().
  std::vector<double> losses() const;
  /// Every seed finished or diverged.
  bool closed() const;
  /// "2 of 3 seeds diverged", "1 of 3 seeds is not finished".
  std::string what_is_missing() const;
};

/// Bits per byte where the runs had different tokenizers.
Measure measure_of(const std::vector<RunOutcome>& outcomes);

/// Arm by arm, point by point. The points refer to the records in `outcomes`.
std::vector<StudyPoint> points_of(const Study& study, const std::vector<RunOutcome>& outcomes);

/// Names, in the study's order.
std::vector<std::string> arms_of(const std::vector<StudyPoint>& points);

/// The arm that differs from the base in nothing but what the sweep sets; empty when there is none.
std::string base_arm(const Study& study);

}  // namespace blockzoo
