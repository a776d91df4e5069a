#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

struct TokenLosses {
  Tensor losses;  // [...], log Z - logit[target], nats; zero where the target is negative
  Tensor log_z;   // [...], logsumexp(logits)
};

/// Cross entropy of every token, with gradients through both results.
/// Shapes:    logits [..., V], targets [...] (int64, below V).
/// Precision: float32 or wider; nothing but the logits and their gradient is as large as they are.
TokenLosses cross_entropy(const Tensor& logits, const Tensor& targets);

}  // namespace blockzoo
