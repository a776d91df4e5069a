#include "blockzoo/lab/statistics.h"

#include <algorithm>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "blockzoo/core/hash.h"

namespace blockzoo {
namespace {

constexpr double kSignificance = 0.05;

double degrees(int64_t pairs) { return static_cast<double>(pairs - 1); }

/// The value that a share of 1 - kSignificance / 2 lies below.
double two_sided_quantile(int64_t pairs) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees(pairs)), kSignificance / 2));
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Chance that a two-sided t test finds a true mean of `shift` standard errors.
double power_at(double shift, int64_t pairs, double critical) {
  const boost::math::non_central_t shifted(degrees(pairs), shift);
  return boost::math::cdf(boost::math::complement(shifted, critical)) + boost::math::cdf(shifted, -critical);
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread{.count = static_cast<int64_t>(values.size())};
  if (values.empty()) return spread;
  spread.mean = mean_of(values);
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

std::optional<PairedDifference> paired_difference(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.size() != second.size()) throw std::invalid_argument("a paired difference needs lists of one length");
  if (first.size() < 2) return std::nullopt;
  std::vector<double> differences(first.size());
  std::transform(first.begin(), first.end(), second.begin(), differences.begin(), std::minus<>());
  const auto spread = spread_of(differences);
  PairedDifference result{.pairs = spread.count, .mean = spread.mean, .deviation = *spread.deviation};
  const double error = result.deviation / std::sqrt(static_cast<double>(result.pairs));
  const double half = two_sided_quantile(result.pairs) * error;
  result.interval = {result.mean - half, result.mean + half};
  if (error > 0) {
    const boost::math::students_t t(degrees(result.pairs));
    result.p = 2 * boost::math::cdf(boost::math::complement(t, std::abs(result.mean) / error));
  } else {
    result.p = result.mean == 0 ? 1 : 0;
  }
  return result;
}

std::optional<double> smallest_difference_shown(double deviation, int64_t pairs, double power) {
  if (pairs < 2) return std::nullopt;
  const double critical = two_sided_quantile(pairs);
  const auto missing = [&](double shift) { return power_at(shift, pairs, critical) - power; };
  double high = critical;
  while (missing(high) < 0) high *= 2;
  std::uintmax_t rounds = 100;
  const auto [low_end, high_end] =
      boost::math::tools::toms748_solve(missing, 0.0, high, boost::math::tools::eps_tolerance<double>(40), rounds);
  return (low_end + high_end) / 2 * deviation / std::sqrt(static_cast<double>(pairs));
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - rank) * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

Interval bootstrap_interval(std::span<const double> values, uint64_t seed, int64_t resamples) {
  if (values.empty()) throw std::invalid_argument("a bootstrap needs values");
  std::vector<double> means(static_cast<size_t>(resamples));
  uint64_t draw = 0;
  for (auto& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      sum += values[static_cast<size_t>(mix(mix(seed) ^ draw++) % values.size())];
    }
    mean = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  const auto at = [&](double share) {  // between neighbours, as NumPy's percentile
    const double place = share * static_cast<double>(means.size() - 1);
    const auto below = static_cast<size_t>(place);
    const auto above = std::min(below + 1, means.size() - 1);
    return std::lerp(means[below], means[above], place - static_cast<double>(below));
  };
  return {at(kSignificance / 2), at(1 - kSignificance / 2)};
}

std::optional<double> spike_score(std::span<const double> values) {
  constexpr size_t window = 1000, fewest = 100;
  constexpr double limit = 7;
  if (values.size() <= fewest) return std::nullopt;
  int64_t spikes = 0;
  for (size_t i = fewest; i < values.size(); ++i) {
    const auto before = values.subspan(i - std::min(i, window), std::min(i, window));
    const auto spread = spread_of({before.begin(), before.end()});
    if (!(std::abs(values[i] - spread.mean) < limit * *spread.deviation) && values[i] != spread.mean) ++spikes;
  }
  return static_cast<double>(spikes) / static_cast<double>(values.size() - fewest);
}

std::optional<double> lr_sensitivity(std::span<const double> losses, double start_loss) {
  std::optional<double> best;
  double sum = 0;
  for (const double loss : losses) {
    sum += std::isfinite(loss) ? std::min(loss, start_loss) : start_loss;
    if (std::isfinite(loss) && (!best || loss < *best)) best = loss;
  }
  if (!best) return std::nullopt;
  return sum / static_cast<double>(losses.size()) - *best;
}

}  // namespace blockzoo
