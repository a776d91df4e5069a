#pragma once

#include "hub/transformers/stack.h"
#include "hub/transformers/weight_map.h"

namespace blockzoo {

/// The stack with every rotary position paired as `pairing` says: another order of the rows of queries and keys, and
/// the same function. Nothing when there is nothing to change, and for keys that are values too.
std::optional<Stack> with_pairing(const Stack& stack, RopePairing pairing);

/// The parameters of `stack` in the order that with_pairing(stack, pairing) needs.
Tensors in_pairing(const Stack& stack, RopePairing pairing, Tensors parameters);

}  // namespace blockzoo
