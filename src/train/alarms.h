#pragma once

#include <string>

#include "blockzoo/train/session.h"

namespace blockzoo {

// Each is a sentence that says why the numbers of a run are doubtful, or empty.

/// Validation windows that stand in the training data; windows below 64 tokens repeat by chance and are not looked for.
std::string overlap_alarm(const Session& session);

/// A first loss more than a quarter away from ln(vocabulary), which guessing all tokens alike gives: start values that
/// are far too large, or targets that the model can see.
std::string start_alarm(double first_loss, int64_t vocabulary);

}  // namespace blockzoo
