#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace blockzoo {

struct Interval {
  double low = 0;
  double high = 0;
};

/// Mean and sample standard deviation; the deviation is absent for fewer than two values.
struct Spread {
  int64_t count = 0;
  double mean = 0;
  std::optional<double> deviation;
};
Spread spread_of(const std::vector<double>& values);

/// Student's t test of paired values against a mean difference of zero.
struct PairedDifference {
  int64_t pairs = 0;
  double mean = 0;       // of first - second
  double deviation = 0;  // sample standard deviation of the differences
  Interval interval;     // two-sided, 95 %
  double p = 1;          // two-sided; 0 when all differences are equal and not zero
};
/// Absent for fewer than two pairs. Both lists have one value for each pair.
std::optional<PairedDifference> paired_difference(const std::vector<double>& first, const std::vector<double>& second);

/// The smallest true difference that a paired t test at 5 % finds with this power (noncentral t distribution).
/// Absent for fewer than two pairs.
std::optional<double> smallest_difference_shown(double deviation, int64_t pairs, double power = 0.8);

/// p values adjusted for being several (Holm 1979): the step-down maximum of (m - rank) p, at most 1; in the given
/// order.
std::vector<double> holm(const std::vector<double>& p);

/// 95 % percentile interval of the mean by drawing the values again with replacement (Efron 1979). A function of its
/// arguments; both ends are the value itself when there is only one.
Interval bootstrap_interval(std::span<const double> values, uint64_t seed = 0, int64_t resamples = 2000);

/// Share of values 7 or more deviations away from the mean of the 1000 before them (OLMo 2, arXiv:2501.00656); values
/// with fewer than 100 before them are left out. Absent when none is left.
std::optional<double> spike_score(std::span<const double> values);

/// Mean over a grid of learning rates of min(loss, start loss), minus the best loss (Wortsman et al. 2023,
/// arXiv:2309.14322). A run that diverged counts with its start loss: pass NaN. Absent without a finite loss.
std::optional<double> lr_sensitivity(std::span<const double> losses, double start_loss);

}  // namespace blockzoo
