#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blockzoo/lab/statistics.h"
#include "blockzoo/lab/verdict.h"
#include "lab/points.h"

namespace blockzoo {

/// One point of a weighted sum of points; arm - base has weights +1 and -1.
struct Term {
  const StudyPoint* point = nullptr;
  double weight = 0;
};

/// A weighted sum of validation losses held against zero.
struct Contrast {
  std::optional<PairedDifference> over_seeds;  // the sum of each seed is one value; absent for one seed
  std::optional<Interval> over_windows;        // bootstrap of the sums of each window, means over the seeds
};

/// Every point must be complete() and comparable with the others.
Contrast contrast(const std::vector<Term>& terms);

/// Holm's correction over those that have a difference, and the words that follow from it.
template <class Judged>
void correct_for_being_several(std::vector<Judged>& judged) {
  constexpr double significance = 0.05;
  std::vector<Judged*> tested;
  std::vector<double> p;
  for (auto& one : judged) {
    if (!one.difference) continue;
    tested.push_back(&one);
    p.push_back(one.difference->p);
  }
  const auto adjusted = holm(p);
  for (size_t i = 0; i < tested.size(); ++i) {
    auto& one = *tested[i];
    one.adjusted_p = adjusted[i];
    if (one.adjusted_p < significance) one.verdict = one.difference->mean < 0 ? Verdict::kBetter : Verdict::kWorse;
  }
}

/// Why two complete points did not train and validate alike; empty when they did. With different tokenizers, data and
/// windows are alike when the text is. Points that are matched by FLOPs or
/// wall clock may differ in their number of tokens.
std::string why_unlike(const StudyPoint& arm, const StudyPoint& base);

}  // namespace blockzoo
