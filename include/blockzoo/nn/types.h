#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace blockzoo {

// Shapes in comments use one legend:
//   B batch          T query positions   S key positions   D model width
//   H query heads    G key heads         K head width      F hidden width   V vocabulary

using at::Tensor;

/// What every part of a block needs to know about the model around it.
struct Dims {
  int64_t model = 0;    // D
  int64_t context = 0;  // longest sequence
};

class PositionImpl;

/// What a forward needs besides x.
struct Context {
  const PositionImpl* position = nullptr;  // acts on queries, keys and scores of this layer
  int64_t first = 0;                       // position of the first token of x
};

}  // namespace blockzoo
