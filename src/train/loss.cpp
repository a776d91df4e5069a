#include "blockzoo/train/loss.h"

#include <ATen/ATen.h>

#include "blockzoo/kernels/cross_entropy.h"

namespace blockzoo {

LossSums loss_sums(const Tensor& logits, const Tensor& targets, bool with_z) {
  TORCH_CHECK(logits.dim() == 3 && targets.sizes() == logits.sizes().slice(0, 2),
              "[loss] needs logits [B, T, V] and targets [B, T], got ", logits.sizes(), " and ", targets.sizes());
  const auto counted = targets != kIgnored;
  const auto [losses, log_z] = cross_entropy(logits, targets);  // [B, T]
  LossSums sums;
  sums.cross_entropy = losses.sum();
  if (with_z) sums.z = log_z.square().masked_fill(counted.logical_not(), 0).sum();
  sums.token_losses = losses.detach();
  sums.tokens = counted.sum().item<int64_t>();
  return sums;
}

Tensor batch_loss(const LossSums& sums, double z_loss, int64_t tokens_in_batch) {
  const auto total = sums.z.defined() ? sums.cross_entropy + z_loss * sums.z : sums.cross_entropy;
  return total / static_cast<double>(std::max<int64_t>(tokens_in_batch, 1));
}

}  // namespace blockzoo
