#include "blockzoo/train/schedule.h"

#include <cmath>

#include "support/catch.h"

namespace blockzoo {
namespace {

std::vector<double> factors(const ScheduleConfig& schedule, int64_t steps) {
  std::vector<double> all;
  for (int64_t step = 0; step < steps; ++step) all.push_back(rate_factor(schedule, step, steps));
  return all;
}

void check_factors(const ScheduleConfig& schedule, const std::vector<double>& expected) {
  const auto actual = factors(schedule, static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("update " << i);
    CHECK(actual[i] == Approx(expected[i]).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("A warm-up starts above zero and its last update has the full rate", "[train][schedule][torch]") {
  check_factors(ConstantSchedule{.warmup = 4}, {0.25, 0.5, 0.75, 1, 1, 1});
  check_factors(CosineSchedule{.warmup = 2, .min_ratio = 0}, {0.5, 1, 0.8535533905932737, 0.5, 0.1464466094067262, 0});
}

TEST_CASE("Every schedule ends at its least rate on the last update", "[train][schedule][torch]") {
  check_factors(LinearSchedule{.warmup = 0, .min_ratio = 0.2}, {0.8, 0.6, 0.4, 0.2});
  CHECK(factors(CosineSchedule{.warmup = 0, .min_ratio = 0.1}, 7).back() == Approx(0.1));
  CHECK(factors(WsdSchedule{.warmup = 0, .decay_fraction = 0.3, .min_ratio = 0}, 10).back() == Approx(0).margin(1e-12));
}

TEST_CASE("Warm-up, stable, decay keeps the full rate until the decay begins", "[train][schedule][torch]") {
  check_factors(WsdSchedule{.warmup = 2, .decay_fraction = 0.4, .min_ratio = 0.5},
                {0.5, 1, 1, 1, 1, 1, 0.875, 0.75, 0.625, 0.5});
}

TEST_CASE("The inverse square root meets its warm-up without a jump", "[train][schedule][torch]") {
  check_factors(InverseSqrtSchedule{.warmup = 4}, {0.25, 0.5, 0.75, 1, std::sqrt(4.0 / 5), std::sqrt(4.0 / 6)});
  check_factors(InverseSqrtSchedule{.warmup = 0}, {1, std::sqrt(1.0 / 2), std::sqrt(1.0 / 3)});
}

TEST_CASE("A warm-up of all updates never divides by zero", "[train][schedule][torch]") {
  check_factors(LinearSchedule{.warmup = 3, .min_ratio = 0}, {1.0 / 3, 2.0 / 3, 1});
}

}  // namespace blockzoo
