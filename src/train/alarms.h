#pragma once

#include <string>

#include "blockzoo/train/session.h"

namespace blockzoo {

// Each is a sentence that says why the numbers of a run are doubtful, or empty.

/// Validation windows that stand in the training data; windows below 64 tokens repeat by chance and are not looked for.
std::string overlap_alarm(const Session& session);

/// A validation loss below what the text's generator allows (ValidationWindows::entropy_bound), so that the model must
/// have seen the text or its targets. The mean ratio of a model's likelihood to the generator's is at most 1, whatever
/// the model, so the sum of its losses is c nats below the bound's with a probability of e^-c at most (Markov). Taken
/// is c = 35, which leaves 1e-9 for a million sizes of the text, which decide where the windows lie: the alarm is
/// raised when loss < bound - 35 / tokens.
std::string entropy_alarm(double loss, double bound, int64_t tokens);

/// A finished run that trained on another number of tokens than its config plans, steps x batch x context.
std::string tokens_alarm(int64_t seen, int64_t planned);

/// A first loss more than a quarter away from ln(vocabulary), which guessing all tokens alike gives: start values that
/// are far too large, or targets that the model can see.
std::string start_alarm(double first_loss, int64_t vocabulary);

}  // namespace blockzoo
