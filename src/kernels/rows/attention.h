#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/rows/element.h"

namespace blockzoo::rows {

/// Attention in tiles of kTile queries by kTile keys. Query t of T stands at position S - T + t and sees the
/// keys of its own position and before, `window` of them (0: all). Head h reads key head h G / H. Tiles that no query
/// sees are passed over, and no more than a tile of the scores is ever held.
///
/// Layouts, without gaps: q [B, T, H, K], k [B, S, G, K], v [B, S, G, W], y [B, T, H, W]; transposed tiles
/// keys_across [B, G, ceil(S / kTile), K, kTile], filled up with zeros. K and W are multiples of kStep.
inline constexpr size_t kTile = 64;
inline constexpr size_t kStep = 16;

struct AttentionShape {
  size_t batch = 0, queries = 0, keys = 0;  // B, T, S
  size_t heads = 0, key_heads = 0;          // H, G
  size_t width = 0, value_width = 0;        // K, W
  size_t zeros = 0, value_zeros = 0;        // so many of the last channels of q and k, and of v and y, are zero
  size_t window = 0;
  float scale = 1;
  float softcap = 0;  // 0 means off
  // Added after the cap: for query t and key j, bias[t * bias_query + j] of the batch and head. Each row is read to the
  // end of its last tile that the query sees.
  const float* bias = nullptr;
  ptrdiff_t bias_batch = 0, bias_head = 0, bias_query = 0;
  float dropout = 0;  // share of weights dropped; which ones follows from the seed, sequence, head, query and key
  uint64_t seed = 0;

  size_t depth() const { return width - zeros; }
  size_t value_depth() const { return value_width - value_zeros; }
  size_t query_tiles() const { return (queries + kTile - 1) / kTile; }
  size_t key_tiles() const { return (keys + kTile - 1) / kTile; }
};

/// T is float or Bf16; sums are float32.
template <class T>
struct AttentionInputs {
  const T* q = nullptr;
  const T* k = nullptr;
  const T* v = nullptr;
};

/// keys_across of the tasks first to last, of batch * key_heads * key_tiles.
void take_keys_across(const AttentionShape& shape, const float* k, size_t first, size_t last, float* keys_across);
void take_keys_across(const AttentionShape& shape, const Bf16* k, size_t first, size_t last, float* keys_across);

/// y and log_z [B, H, T] of the tasks first to last, of batch * heads * query_tiles().
void attend(const AttentionShape& shape, const AttentionInputs<float>& inputs, const float* keys_across, size_t first,
            size_t last, float* y, float* log_z);
void attend(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs, const float* keys_across, size_t first,
            size_t last, Bf16* y, float* log_z);

/// y, log_z: of the forward; dq as q; dk and dv of every query head for itself, [B, S, H, K] and [B, S, H, W].
template <class T, class D = float>
struct AttentionGradients {
  const T* y = nullptr;
  const T* dy = nullptr;
  const float* log_z = nullptr;
  T* dq = nullptr;
  D* dk = nullptr;
  D* dv = nullptr;
  // Null, or what becomes the bias's gradient, zero before: for query t and key j, dbias[t * dbias_query + j] of the
  // batch and head, whose rows are written to the end of the last vector that the query sees.
  float* dbias = nullptr;
  ptrdiff_t dbias_batch = 0, dbias_head = 0, dbias_query = 0;
};

/// Gradients of the tasks first to last, of batch * heads.
void attend_backward(const AttentionShape& shape, const AttentionInputs<float>& inputs,
                     const AttentionGradients<float>& gradients, size_t first, size_t last);
void attend_backward(const AttentionShape& shape, const AttentionInputs<Bf16>& inputs,
                     const AttentionGradients<Bf16>& gradients, size_t first, size_t last);

}  // namespace blockzoo::rows
