#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace blockzoo {

// Shapes in comments use one legend:
//   B batch          T query positions   S key positions   D model width
//   H query heads    G key heads         K head width      F hidden width   V vocabulary

using at::Tensor;

/// What every part of a block needs to know about the model around it.
struct Dims {
  int64_t model = 0;            // D
  int64_t context = 0;          // longest sequence
  int64_t layer_embedding = 0;  // P, channels of each layer's own token embedding; 0 means none
};

/// Where tokens [B, T] stand in their sequences: token t of row b at first + t - absent[b].
struct Places {
  int64_t first = 0;
  Tensor absent = {};  // [B], int64: places at the start of each row that hold no token; undefined means none

  Places(int64_t first = 0, Tensor absent = {}) : first(first), absent(std::move(absent)) {}
};

/// Keys and values of one layer, as its scores and its sums take them.
struct KeysValues {
  Tensor keys;         // [B, S, G, K], rotated
  Tensor values;       // [B, S, G, W], or undefined where the keys hold them
  Tensor absent = {};  // [B], int64: keys at the start of each row that belong to no token; undefined means none
};

/// What one layer keeps of the tokens before x.
class LayerCache {
 public:
  virtual ~LayerCache() = default;
  /// Keeps the keys and values of x's T tokens too, and returns all that their queries may look at, x's last.
  virtual KeysValues extend(const KeysValues& fresh) = 0;
};

class PositionImpl;

/// What a forward needs besides x.
struct Context {
  const PositionImpl* position = nullptr;  // acts on queries, keys and scores of this layer
  Places places = {};                      // of the tokens of x
  LayerCache* cache = nullptr;             // null: no token comes before x
  const KeysValues* reused = nullptr;      // of an earlier layer, for attention that reuses them
  KeysValues* made = nullptr;              // where this layer leaves its own for later ones; null when none reads them
  Tensor layer_input = {};                 // [B, T, P], this layer's own embedding of the tokens; may be undefined

  /// Keys and values of x's tokens behind those that the layer has kept.
  KeysValues seen(const KeysValues& fresh) const { return cache == nullptr ? fresh : cache->extend(fresh); }
};

}  // namespace blockzoo
