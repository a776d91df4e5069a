#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace blockzoo {

/// How the next token is chosen from the logits l. What is set acts in this order, as in Hugging Face transformers:
///   repetition penalty r: l_i / r where l_i > 0, l_i r elsewhere, for every token i of the prompt and the text so far;
///   temperature t:        l_i / t;
///   top_k k:              the k largest l_i stay, and those equal to the k-th;
///   top_p p:              the likeliest tokens stay, up to the first at which their probabilities sum to p;
///   min_p m:              tokens at least m times as likely as the likeliest stay;
/// and the token is drawn with probabilities softmax(l) over what stayed.
/// Source: repetition penalty: Keskar et al. 2019, arXiv:1909.05858; top_k: Fan et al. 2018, arXiv:1805.04833; top_p:
/// Holtzman et al. 2020, arXiv:1904.09751; min_p: Nguyen et al. 2024, arXiv:2407.01082.
/// Differs from the source: the penalty multiplies where a logit is negative, as transformers does; the paper divides
/// all, which would favour such tokens.
struct Sampling {
  double temperature = 1;         // 0 takes the largest logit, of equal ones the lowest id
  int64_t top_k = 0;              // 0 means all
  double top_p = 1;               // 1 means all; 0 leaves the likeliest alone
  double min_p = 0;               // 0 means all
  double repetition_penalty = 1;  // 1 means none
};

/// Whether the token of the largest logit is taken, whatever the others are.
bool takes_largest(const Sampling& sampling);

/// Empty, or what is wrong: "top_p must be from 0 to 1, got 1.5".
std::string sampling_problem(const Sampling& sampling);

/// A token that may be drawn, with its probability.
struct Candidate {
  int64_t id = 0;
  double probability = 0;
};

/// The distribution that the next token is drawn from; with temperature 0 one token. `read` are the tokens that the
/// penalty falls on.
/// Precision: float64 throughout.
/// Errors:    std::runtime_error that names the token whose logit is NaN or +infinity; all logits -infinity.
std::vector<Candidate> candidates(std::span<const float> logits, const Sampling& sampling,
                                  const std::unordered_set<int64_t>& read = {});

/// Chooses the tokens of one text. Its stream of random numbers depends on the seed alone, any of which is as good.
class Sampler {
 public:
  /// Errors: std::invalid_argument with sampling_problem.
  Sampler(const Sampling& sampling, uint64_t seed);

  /// Tokens of the prompt, which the penalty falls on.
  void read(std::span<const int64_t> ids);
  /// Draws a token, which counts as read. Errors: as candidates.
  int64_t next(std::span<const float> logits);

 private:
  const Sampling sampling_;
  std::unordered_set<int64_t> read_;  // filled only where a penalty is set
  std::mt19937_64 random_;
};

}  // namespace blockzoo
