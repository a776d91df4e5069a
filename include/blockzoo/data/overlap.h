#pragma once

#include "blockzoo/data/batches.h"

namespace blockzoo {

/// How many of the validation windows stand, token for token, somewhere in the training data. Reads it once; finds the
/// windows by a rolling hash (Karp and Rabin 1987) and makes sure of each. Errors: those of TokenSource::read.
int64_t windows_in_training_data(const TokenSource& train, const ValidationWindows& validation);

}  // namespace blockzoo
