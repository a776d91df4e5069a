#pragma once

#include <vector>

#include "blockzoo/nn/model.h"

namespace blockzoo {

/// Random sequences of tokens, each at most once, which stand there twice: before, x_1 .. x_L, x_1 .. x_L.
struct InductionOptions {
  int64_t length = 0;           // L; 0 means 50, or as many as context and ids allow
  int64_t sequences = 8;        // the scores are means over these
  uint64_t seed = 0;            // the sequences depend on it, on L and on the ids alone
  std::vector<int64_t> ids;     // that are drawn from
  std::vector<int64_t> before;  // what every text of the model begins with, such as <s>
  double found = 0.3;           // repeat less fresh that an induction head has at least
};

/// One head. A head that looks back L - 1 tokens whatever they are has a `repeat` of 1 as well, and a `fresh` of 1.
struct InductionHead {
  int64_t layer = 0, head = 0;
  double repeat = 0;       // mean weight of token i of the second copy on i - L + 1, which followed it in the first
  double fresh = 0;        // the same where the second copy is another random sequence
  double on_previous = 0;  // mean weight of token i of the second copy on i - 1
  double chance = 0;       // mean of 1 / keys that i sees: the score of even weights
  bool in_reach = true;    // a window shorter than L hides i - L + 1
  bool found = false;      // repeat - fresh >= InductionOptions::found
};

struct InductionScores {
  int64_t length = 0, sequences = 0;
  uint64_t seed = 0;
  double found = 0;
  std::vector<InductionHead> heads;  // of every layer, in the order of layers and heads
};

/// Scores every head of the model.
/// Source: prefix matching score, Olsson et al. 2022, arXiv:2209.11895.
/// Differs from the source: tokens of a sequence are all different, and what a head does without a repeat is told and
/// taken off before a head counts as found.
/// Errors: std::runtime_error when the context or the ids allow no sequence of 3 tokens, or less than `length`;
/// std::invalid_argument, beginning with the field, for options out of range.
InductionScores induction_scores(ModelImpl& model, const InductionOptions& options);

}  // namespace blockzoo
