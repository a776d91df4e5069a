#include "blockzoo/infer/sampling.h"

#include <cmath>
#include <limits>
#include <map>

#include "support/golden.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::vector<float> kLogits{0.5f, 2.0f, -1.0f, 1.5f, 0.0f, -3.0f};

std::vector<int64_t> ids_left(const Sampling& sampling, const std::vector<float>& logits = kLogits) {
  std::vector<int64_t> ids;
  double sum = 0;
  for (const auto& one : candidates(logits, sampling)) {
    ids.push_back(one.id);
    sum += one.probability;
  }
  CHECK(sum == Approx(1));
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// Pearson's statistic of 20000 draws against the probabilities of `expected`.
double chi_square(const Sampling& sampling, const std::map<int64_t, double>& expected) {
  constexpr int draws = 20000;
  Sampler sampler(sampling, 0);
  std::map<int64_t, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.next(kLogits)];
  double statistic = 0;
  for (const auto& [id, probability] : expected) {
    const double mean = draws * probability;
    statistic += (counts[id] - mean) * (counts[id] - mean) / mean;
    counts.erase(id);
  }
  CHECK(counts.empty());  // nothing else is drawn
  return statistic;
}

/// softmax(logits / temperature) over the ids.
std::map<int64_t, double> softmax_over(const std::vector<int64_t>& ids, double temperature) {
  std::map<int64_t, double> probabilities;
  double sum = 0;
  for (const auto id : ids)
    sum += probabilities[id] = std::exp(static_cast<double>(kLogits[static_cast<size_t>(id)]) / temperature);
  for (auto& [id, probability] : probabilities) probability /= sum;
  return probabilities;
}

}  // namespace

TEST_CASE("tokens are drawn with the probabilities of the filtered softmax", "[infer][sampling]") {
  // Quantiles of chi-square at 0.999 for 5, 2, 1 and 3 degrees of freedom: a right sampler is above one of them once in
  // a thousand seeds, and this seed is not such a one.
  CHECK(chi_square({}, softmax_over({0, 1, 2, 3, 4, 5}, 1)) < 20.52);
  CHECK(chi_square({.temperature = 2}, softmax_over({0, 1, 2, 3, 4, 5}, 2)) < 20.52);
  CHECK(chi_square({.top_k = 3}, softmax_over({0, 1, 3}, 1)) < 13.82);
  CHECK(chi_square({.top_p = 0.7}, softmax_over({1, 3}, 1)) < 10.83);
  CHECK(chi_square({.min_p = 0.13}, softmax_over({0, 1, 3, 4}, 1)) < 16.27);
  CHECK(chi_square({.temperature = 0.5, .top_k = 4, .top_p = 0.98}, softmax_over({0, 1, 3}, 0.5)) < 13.82);
}

TEST_CASE("the distributions are those of transformers", "[infer][sampling][golden]") {
  const auto file = golden("sampling");
  const auto logits = file["logits"].get<std::vector<float>>();
  const auto read = file["read"].get<std::unordered_set<int64_t>>();
  for (const auto& one : file["cases"]) {
    INFO(one["settings"]);
    const auto setting = [&](const char* name, auto otherwise) { return one["settings"].value(name, otherwise); };
    const Sampling sampling{.temperature = setting("temperature", 1.0),
                            .top_k = setting("top_k", int64_t{0}),
                            .top_p = setting("top_p", 1.0),
                            .min_p = setting("min_p", 0.0),
                            .repetition_penalty = setting("repetition_penalty", 1.0)};
    std::vector<double> probabilities(logits.size(), 0.0);
    for (const auto& candidate : candidates(logits, sampling, read))
      probabilities[static_cast<size_t>(candidate.id)] = candidate.probability;
    check_near("probabilities", at::tensor(probabilities), tensor_of(one["probabilities"], {24}));
  }
}

TEST_CASE("a sampler that ignored its temperature would be found out", "[infer][sampling]") {
  CHECK(chi_square({.temperature = 1.1}, softmax_over({0, 1, 2, 3, 4, 5}, 1)) > 20.52);
}

TEST_CASE("filters keep what their formulas say, at their edges too", "[infer][sampling]") {
  const std::vector<int64_t> all{0, 1, 2, 3, 4, 5};
  CHECK(ids_left({.top_k = 0}) == all);
  CHECK(ids_left({.top_k = 1}) == std::vector<int64_t>{1});
  CHECK(ids_left({.top_k = 100}) == all);
  CHECK(ids_left({.top_p = 1}) == all);
  for (const double p : {0.0, 1e-300, 1e-8, 1e-3}) CHECK(ids_left({.top_p = p}) == std::vector<int64_t>{1});
  CHECK(ids_left({.top_k = 2, .top_p = 0}) == std::vector<int64_t>{1});
  CHECK(ids_left({.min_p = 0}) == all);
  CHECK(ids_left({.min_p = 1}) == std::vector<int64_t>{1});
  for (const double t : {1e-6, 1e-45, 1e-300, std::numeric_limits<double>::denorm_min(), 0.0})
    CHECK(ids_left({.temperature = t}) == std::vector<int64_t>{1});
  CHECK(ids_left({.temperature = 1e300}) == all);
}

TEST_CASE("equal logits: all stay, greedy takes the first, and top_k keeps those equal to the k-th",
          "[infer][sampling]") {
  const std::vector<float> equal(4, 7.0f);
  for (const auto& one : candidates(equal, {})) CHECK(one.probability == Approx(0.25));
  CHECK(ids_left({.temperature = 0}, equal) == std::vector<int64_t>{0});
  CHECK(ids_left({.temperature = 1e-6}, equal) == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(ids_left({.top_k = 2}, equal).size() == 4);
  CHECK(ids_left({.top_p = 0}, equal) == std::vector<int64_t>{0});
  CHECK(ids_left({.top_p = 0.5}, equal) == std::vector<int64_t>{0, 1});
  CHECK(ids_left({.min_p = 1}, equal).size() == 4);
}

TEST_CASE("the repetition penalty makes read tokens less likely, whatever the sign of their logits",
          "[infer][sampling]") {
  const std::vector<float> logits{2.0f, -2.0f, 1.0f};
  const auto plain = candidates(logits, {}), less = candidates(logits, {.repetition_penalty = 2}, {0, 1});
  const double sum = std::exp(1.0) + std::exp(-4.0) + std::exp(1.0);
  CHECK(less[0].probability == Approx(std::exp(1.0) / sum));
  CHECK(less[1].probability == Approx(std::exp(-4.0) / sum));
  CHECK(plain[0].probability > less[0].probability);
  Sampler greedy({.temperature = 0, .repetition_penalty = 3}, 0);
  const std::vector<int64_t> prompt{0};
  greedy.read(prompt);
  CHECK(greedy.next(logits) == 2);
  CHECK(greedy.next(logits) == 0);  // 2/3 against 1/3
}

TEST_CASE("every seed is a seed, and greedy needs none", "[infer][sampling]") {
  const auto drawn = [](const Sampling& sampling, uint64_t seed) {
    Sampler sampler(sampling, seed);
    std::vector<int64_t> ids;
    for (int i = 0; i < 50; ++i) ids.push_back(sampler.next(kLogits));
    return ids;
  };
  const std::vector<uint64_t> seeds{0, 1, 2, (1ULL << 63) - 1, ~0ULL};
  for (const auto a : seeds) {
    for (const auto b : seeds) CHECK((drawn({}, a) == drawn({}, b)) == (a == b));
    CHECK(drawn({.temperature = 0}, a) == std::vector<int64_t>(50, 1));
  }
}

TEST_CASE("logits from which nothing can be chosen are refused by name", "[infer][sampling][error]") {
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  for (const double temperature : {0.0, 1.0}) {
    const Sampling sampling{.temperature = temperature};
    CHECK_THROWS_WITH(candidates(std::vector{1.0f, nan, 2.0f}, sampling), ContainsSubstring("token 1 is NaN"));
    CHECK_THROWS_WITH(candidates(std::vector{1.0f, 2.0f, infinity}, sampling),
                      ContainsSubstring("token 2 is infinite"));
    CHECK_THROWS_WITH(candidates(std::vector{-infinity, -infinity}, sampling), ContainsSubstring("-infinity"));
    CHECK(candidates(std::vector{-infinity, 3.0f}, sampling).size() == 1);
  }
}

TEST_CASE("settings out of range are refused by name", "[infer][sampling][error]") {
  const auto problem = [](const Sampling& sampling) {
    std::string message = "accepted";
    try {
      Sampler sampler(sampling, 0);
    } catch (const std::invalid_argument& error) {
      message = error.what();
    }
    return message;
  };
  CHECK(problem({.temperature = -1}) == "temperature must be 0 or a positive number, got -1");
  CHECK_THAT(problem({.temperature = NAN}), ContainsSubstring("temperature must be"));
  CHECK_THAT(problem({.temperature = INFINITY}), ContainsSubstring("temperature must be"));
  CHECK(problem({.top_k = -1}) == "top_k must be 0 or more, got -1");
  CHECK(problem({.top_p = 1.5}) == "top_p must be from 0 to 1, got 1.5");
  CHECK_THAT(problem({.top_p = NAN}), ContainsSubstring("top_p"));
  CHECK(problem({.min_p = -0.1}) == "min_p must be from 0 to 1, got -0.1");
  CHECK(problem({.repetition_penalty = 0}) == "repetition_penalty must be a positive number, got 0");
  CHECK(problem({}) == "accepted");
}

}  // namespace blockzoo
