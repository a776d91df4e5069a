#pragma once

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

/// Targets of this value are not counted.
inline constexpr int64_t kIgnored = -1;

struct LossConfig {
  double z_loss = 0;

  static void fields(auto& self, auto& visit) {
    visit("z_loss", self.z_loss, not_negative,
          "weight of mean(log(Z)^2), which keeps the softmax's denominator near 1 (PaLM, arXiv:2204.02311: 1e-4)");
  }
};

/// Sums over the counted tokens, so that micro-batches of different counts add up to one large batch exactly.
struct LossSums {
  Tensor cross_entropy;  // sum of log Z - logit[target], nats, with gradient
  Tensor z;              // sum of log(Z)^2; undefined unless asked for
  Tensor token_losses;   // [B, T], nats, zero where not counted; no gradient
  int64_t tokens = 0;    // counted
};

/// log Z = logsumexp(logits). Shapes: logits [B, T, V], targets [B, T].
/// Precision: everything after the logits is in float32 or wider.
LossSums loss_sums(const Tensor& logits, const Tensor& targets, bool with_z);

/// (cross_entropy + z_loss * z) / tokens_in_batch, whose gradients add up over micro-batches; zero for no tokens.
Tensor batch_loss(const LossSums& sums, double z_loss, int64_t tokens_in_batch);

}  // namespace blockzoo
