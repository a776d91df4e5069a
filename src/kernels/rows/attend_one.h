#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// Attention of one query for each head of each sequence over the keys that are kept: what a step of generation needs.
/// Head h reads key head h G / H. Channels lie side by side; all other strides are free.
struct OneQueryShape {
  size_t batch = 0, keys = 0;         // B, S
  size_t heads = 0, key_heads = 0;    // H, G
  size_t width = 0, value_width = 0;  // K, W
  size_t first_key = 0;               // keys before it are not seen
  const int64_t* absent = nullptr;    // [B]: nor are those at the start of a sequence; null means none
  float scale = 1;
  float softcap = 0;            // 0 means off
  const float* bias = nullptr;  // added after the cap; keys side by side
  ptrdiff_t bias_batch = 0, bias_head = 0;
};

template <class T>
struct OneQueryInputs {
  const T* q = nullptr;  // [B, H, K], without gaps
  const T* k = nullptr;  // [B, S, G, K]
  const T* v = nullptr;  // [B, S, G, W]
  struct Strides {
    ptrdiff_t batch = 0, key = 0, head = 0;
  } k_strides, v_strides;
};

/// y [B, H, W] of the heads first to last, of batch * heads. A sequence without a key to see gives zero.
void attend_one(const OneQueryShape& shape, const OneQueryInputs<float>& inputs, size_t first, size_t last, float* y);
void attend_one(const OneQueryShape& shape, const OneQueryInputs<Bf16>& inputs, size_t first, size_t last, Bf16* y);

}  // namespace blockzoo::rows
