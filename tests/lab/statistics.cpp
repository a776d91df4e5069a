#include "blockzoo/lab/statistics.h"

#include <cmath>
#include <random>

#include "support/golden.h"

namespace blockzoo {
namespace {

std::vector<double> list(const nlohmann::json& json) { return json.get<std::vector<double>>(); }

/// Differences of `pairs` seeds around `shift`.
std::vector<double> noise(std::mt19937_64& generator, size_t pairs, double shift) {
  std::normal_distribution<double> normal(shift, 1);
  std::vector<double> values(pairs);
  for (auto& value : values) value = normal(generator);
  return values;
}

/// Share of 2000 simulated studies in which a paired t test finds a difference.
double share_found(size_t pairs, double shift) {
  std::mt19937_64 generator(7);
  constexpr int studies = 2000;
  int found = 0;
  for (int i = 0; i < studies; ++i) {
    const auto differences = noise(generator, pairs, shift);
    found += paired_difference(differences, std::vector<double>(pairs, 0.0))->p < 0.05;
  }
  return static_cast<double>(found) / studies;
}

}  // namespace

TEST_CASE("Paired differences equal SciPy's paired t test", "[lab][statistics][golden]") {
  for (const auto& one : golden("study_statistics")["cases"]) {
    const auto result = paired_difference(list(one["first"]), list(one["second"]));
    REQUIRE(result);
    CHECK(result->pairs == static_cast<int64_t>(one["first"].size()));
    CHECK(result->mean == Approx(one["mean"].get<double>()).epsilon(1e-10));
    CHECK(result->deviation == Approx(one["deviation"].get<double>()).epsilon(1e-10));
    CHECK(result->interval.low == Approx(one["low"].get<double>()).epsilon(1e-9));
    CHECK(result->interval.high == Approx(one["high"].get<double>()).epsilon(1e-9));
    CHECK(result->p == Approx(one["p"].get<double>()).epsilon(1e-9));
  }
}

TEST_CASE("The smallest difference shown equals SciPy's noncentral t", "[lab][statistics][golden]") {
  for (const auto& one : golden("study_statistics")["power"]) {
    const auto smallest = smallest_difference_shown(one["deviation"], one["pairs"], one["power"]);
    REQUIRE(smallest);
    CHECK(*smallest == Approx(one["smallest"].get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("Holm's correction equals its definition", "[lab][statistics][golden]") {
  for (const auto& one : golden("study_statistics")["holm"]) {
    const auto adjusted = holm(list(one["p"])), expected = list(one["adjusted"]);
    REQUIRE(adjusted.size() == expected.size());
    for (size_t i = 0; i < adjusted.size(); ++i) CHECK(adjusted[i] == Approx(expected[i]));
  }
  CHECK(holm({}).empty());
}

TEST_CASE("The bootstrap's interval is SciPy's to what drawing allows", "[lab][statistics][golden]") {
  const auto one = golden("study_statistics")["bootstrap"];
  const auto values = list(one["values"]);
  const double low = one["low"], high = one["high"];
  const auto interval = bootstrap_interval(values);
  CHECK(std::abs(interval.low - low) < 0.05 * (high - low));
  CHECK(std::abs(interval.high - high) < 0.05 * (high - low));
  const auto again = bootstrap_interval(values), other = bootstrap_interval(values, 1);
  CHECK(again.low == interval.low);
  CHECK(other.low != interval.low);
  CHECK(bootstrap_interval(std::vector<double>{3.0}).low == 3.0);
}

TEST_CASE("Too little data gives no number", "[lab][statistics]") {
  CHECK_FALSE(paired_difference({1.0}, {2.0}));
  CHECK_FALSE(smallest_difference_shown(1.0, 1));
  CHECK(spread_of({}).count == 0);
  CHECK_FALSE(spread_of({1.0}).deviation);
  CHECK_FALSE(spike_score(std::vector<double>(100, 1.0)));
  CHECK_FALSE(lr_sensitivity(std::vector<double>{std::nan("")}, 5.0));
  CHECK_THROWS_AS(paired_difference({1.0, 2.0}, {1.0}), std::invalid_argument);
}

TEST_CASE("Differences that are all alike are certain, and none is no difference", "[lab][statistics]") {
  CHECK(paired_difference({1.0, 2.0, 3.0}, {0.5, 1.5, 2.5})->p == 0);
  CHECK(paired_difference({1.0, 2.0}, {1.0, 2.0})->p == 1);
}

TEST_CASE("Without a true difference at most one study in twenty finds one; with one, as many as theory says",
          "[lab][statistics]") {
  for (const size_t pairs : {2, 3, 5, 10}) {
    INFO(pairs << " seeds");
    CHECK(share_found(pairs, 0) < 0.05 + 0.012);  // 2.5 standard errors of 2000 studies
    const double smallest = *smallest_difference_shown(1, static_cast<int64_t>(pairs));
    CHECK(std::abs(share_found(pairs, smallest) - 0.8) < 0.025);
  }
}

TEST_CASE("Holm keeps the chance of any false word among several arms below one in twenty", "[lab][statistics]") {
  std::mt19937_64 generator(11);
  constexpr int studies = 2000;
  int any = 0;
  for (int i = 0; i < studies; ++i) {
    std::vector<double> p;
    for (int arm = 0; arm < 4; ++arm) p.push_back(paired_difference(noise(generator, 3, 0), {0, 0, 0})->p);
    const auto adjusted = holm(p);
    any += *std::min_element(adjusted.begin(), adjusted.end()) < 0.05;
  }
  CHECK(static_cast<double>(any) / studies < 0.05 + 0.012);
}

TEST_CASE("A spike is a value far from those before it", "[lab][statistics]") {
  std::mt19937_64 generator(3);
  auto values = noise(generator, 1100, 2);
  CHECK(*spike_score(values) == 0);
  values[500] = 20;
  values[1050] = -20;
  CHECK(*spike_score(values) == Approx(2.0 / 1000));
  CHECK(*spike_score(std::vector<double>(300, 1.0)) == 0);
}

TEST_CASE("Sensitivity to the rate is the mean loss, at most the start's, above the best", "[lab][statistics]") {
  CHECK(*lr_sensitivity(std::vector<double>{2.0, 1.0, 3.0}, 5.0) == Approx(1.0));
  CHECK(*lr_sensitivity(std::vector<double>{2.0, 1.0, std::nan("")}, 5.0) == Approx((2.0 + 1.0 + 5.0) / 3 - 1));
  CHECK(*lr_sensitivity(std::vector<double>{9.0, 1.0}, 5.0) == Approx(2.0));
}

}  // namespace blockzoo
