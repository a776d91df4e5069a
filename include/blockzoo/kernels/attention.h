#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

struct AttendOptions {
  double scale = 1;
  int64_t window = 0;         // keys a query sees, itself included; 0 means all before it
  double softcap = 0;         // 0 means off
  double dropout = 0;         // share of weights dropped; the caller passes 0 outside training
  Tensor distance_bias = {};  // [H, S], added to the score of a key 0 to S-1 places behind its query; or undefined
  Tensor bias = {};           // [H, T, S] or [B, H, T, S], added likewise; or undefined
  Tensor absent = {};         // [B], int64: keys at the start of each row that belong to no token; undefined means none
};

/// Causal attention of H query heads over G key heads, head h reading key head floor(h G / H):
///   y = dropout(softmax(cap(scale q k^T) + bias)) v, each query seeing the keys at its own position and before.
/// The T queries stand at the last T of the S positions; a query whose own position is absent gives zero.
/// Shapes:    q [B, T, H, K], k [B, S, G, K], v [B, S, G, W] -> y [B, T, H, W], T <= S.
/// Precision: softmax in float32 or wider.
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options);

}  // namespace blockzoo
