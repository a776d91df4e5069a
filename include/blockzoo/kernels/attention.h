#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

struct AttendOptions {
  double scale = 1;
  int64_t window = 0;  // keys a query sees, itself included; 0 means all before it
  double softcap = 0;  // 0 means off
  double dropout = 0;  // share of weights dropped; the caller passes 0 outside training
  Tensor bias;         // [H, T, S], or undefined
};

/// Causal attention of H query heads over G key heads, head h reading key head floor(h G / H):
///   y = dropout(softmax(cap(scale q k^T) + bias)) v, each query seeing the keys at its own position and before.
/// Shapes:    q [B, T, H, K], k [B, T, G, K], v [B, T, G, W] -> y [B, T, H, W].
/// Precision: softmax in float32 or wider.
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& options);

}  // namespace blockzoo
