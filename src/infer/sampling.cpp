#include "blockzoo/infer/sampling.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace blockzoo {
namespace {

/// Tokens that are left. Until the end their probabilities are relative to the likeliest, which has 1.
using Candidates = std::vector<Candidate>;

/// Denormal temperatures count as 0: the program flushes denormals.
bool greedy(const Sampling& sampling) { return sampling.temperature < std::numeric_limits<double>::min(); }

void check_logits(std::span<const float> logits) {
  bool good = true, any = false;  // without a branch, so that the compiler takes many at once
  for (const float logit : logits) {
    good &= logit < INFINITY;  // NaN is not
    any |= logit > -INFINITY;
  }
  if (!good) {
    const auto bad = std::find_if(logits.begin(), logits.end(), [](float logit) { return !(logit < INFINITY); });
    throw std::runtime_error(fmt::format("the model's logit of token {} is {}: no token can be chosen",
                                         bad - logits.begin(), std::isnan(*bad) ? "NaN" : "infinite"));
  }
  if (!any) throw std::runtime_error("the model gives every token the logit -infinity: no token can be chosen");
}

/// The logits after the repetition penalty.
std::vector<double> penalised(std::span<const float> logits, double penalty, const std::unordered_set<int64_t>& read) {
  std::vector<double> scores(logits.begin(), logits.end());
  if (penalty == 1) return scores;
  for (const auto id : read) {
    auto& score = scores.at(static_cast<size_t>(id));
    score = score > 0 ? score / penalty : score * penalty;
  }
  return scores;
}

/// The place of the first of the largest of numbers, of which none is NaN.
template <class Numbers>
int64_t likeliest(const Numbers& numbers) {
  using Number = typename Numbers::value_type;
  std::array<Number, 16> most;  // side by side, so that the compiler takes many at once
  most.fill(-std::numeric_limits<Number>::infinity());
  size_t i = 0;
  for (; i + most.size() <= numbers.size(); i += most.size()) {
    for (size_t j = 0; j < most.size(); ++j) most[j] = numbers[i + j] > most[j] ? numbers[i + j] : most[j];
  }
  for (; i < numbers.size(); ++i) most[0] = std::max(most[0], numbers[i]);
  const auto largest = *std::max_element(most.begin(), most.end());
  return std::find(numbers.begin(), numbers.end(), largest) - numbers.begin();
}

bool likelier(const Candidate& a, const Candidate& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
}

/// The k-th largest score, or -infinity where all stay.
double least_of_top(const std::vector<double>& scores, int64_t k) {
  if (k == 0 || k >= static_cast<int64_t>(scores.size())) return -INFINITY;
  auto sorted = scores;
  std::nth_element(sorted.begin(), sorted.begin() + (k - 1), sorted.end(), std::greater<>());
  return sorted[static_cast<size_t>(k - 1)];
}

double total(const Candidates& left) {
  double sum = 0;
  for (const auto& one : left) sum += one.probability;
  return sum;
}

/// Keeps the likeliest until their share reaches p. `left` is sorted afterwards.
void keep_top_p(Candidates& left, double p) {
  if (p >= 1) return;
  std::sort(left.begin(), left.end(), likelier);
  const double enough = p * total(left);
  size_t kept = 0;
  for (double sum = 0; kept < left.size() && (kept == 0 || sum < enough); ++kept) sum += left[kept].probability;
  left.resize(kept);
}

}  // namespace

bool takes_largest(const Sampling& sampling) { return greedy(sampling) && sampling.repetition_penalty == 1; }

std::string sampling_problem(const Sampling& sampling) {
  const auto wrong = [](const char* name, const char* allowed, double value) {
    return fmt::format("{} must be {}, got {}", name, allowed, value);
  };
  if (!(sampling.temperature >= 0) || std::isinf(sampling.temperature))
    return wrong("temperature", "0 or a positive number", sampling.temperature);
  if (sampling.top_k < 0) return fmt::format("top_k must be 0 or more, got {}", sampling.top_k);
  if (!(sampling.top_p >= 0 && sampling.top_p <= 1)) return wrong("top_p", "from 0 to 1", sampling.top_p);
  if (!(sampling.min_p >= 0 && sampling.min_p <= 1)) return wrong("min_p", "from 0 to 1", sampling.min_p);
  if (!(sampling.repetition_penalty > 0) || std::isinf(sampling.repetition_penalty))
    return wrong("repetition_penalty", "a positive number", sampling.repetition_penalty);
  return "";
}

std::vector<Candidate> candidates(std::span<const float> logits, const Sampling& sampling,
                                  const std::unordered_set<int64_t>& read) {
  check_logits(logits);
  if (takes_largest(sampling)) return {{likeliest(logits), 1}};
  const auto scores = penalised(logits, sampling.repetition_penalty, read);
  const auto best = likeliest(scores);
  if (greedy(sampling)) return {{best, 1}};
  const double least = least_of_top(scores, sampling.top_k);
  Candidates left;
  for (size_t id = 0; id < scores.size(); ++id) {
    if (scores[id] < least) continue;
    const double probability = std::exp((scores[id] - scores[static_cast<size_t>(best)]) / sampling.temperature);
    if (probability > 0) left.push_back({static_cast<int64_t>(id), probability});
  }
  keep_top_p(left, sampling.top_p);
  std::erase_if(left, [&](const Candidate& one) { return one.probability < sampling.min_p; });
  const double sum = total(left);
  for (auto& one : left) one.probability /= sum;
  return left;
}

Sampler::Sampler(const Sampling& sampling, uint64_t seed) : sampling_(sampling), random_(seed) {
  if (const auto problem = sampling_problem(sampling); !problem.empty()) throw std::invalid_argument(problem);
}

void Sampler::read(std::span<const int64_t> ids) {
  if (sampling_.repetition_penalty != 1) read_.insert(ids.begin(), ids.end());
}

int64_t Sampler::next(std::span<const float> logits) {
  const auto left = candidates(logits, sampling_, read_);
  auto chosen = left.back().id;
  if (left.size() > 1) {
    const double u = static_cast<double>(random_() >> 11) * 0x1p-53;  // [0, 1)
    double sum = 0;
    for (const auto& one : left) {
      sum += one.probability;
      if (u >= sum) continue;
      chosen = one.id;
      break;
    }
  }
  read(std::span(&chosen, 1));
  return chosen;
}

}  // namespace blockzoo
