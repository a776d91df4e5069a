#pragma once

#include "kernels/rows/attention.h"

namespace blockzoo::rows {

/// Attention in tiles as attention.h has it, for bfloat16 with products of pairs: weights, and gradients of scores, are
/// rounded to bfloat16 before what is summed over them; softmax and sums are float32. keys_across is
/// [B, G, ceil(S / kTile), K / 2, kTile] pairs.
struct AttentionInPairs {
  void (*take_keys_across)(const AttentionShape& shape, const Bf16* k, size_t first, size_t last,
                           Bf16Pair* keys_across);
  void (*attend)(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs, const Bf16Pair* keys_across,
                 size_t first, size_t last, Bf16* y, float* log_z);
  void (*attend_backward)(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs,
                          const AttentionGradients<Bf16>& gradients, size_t first, size_t last);
  /// The same with dk and dv rounded, for as many key heads as heads.
  void (*attend_backward_rounded)(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs,
                                  const AttentionGradients<Bf16, Bf16>& gradients, size_t first, size_t last);
};

/// Null where the processor does not multiply pairs.
const AttentionInPairs* attention_in_pairs();

}  // namespace blockzoo::rows
