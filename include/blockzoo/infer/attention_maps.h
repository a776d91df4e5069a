#pragma once

#include <vector>

#include "blockzoo/nn/model.h"

namespace blockzoo {

/// Attention weights of one layer for one text of T tokens, as the model used them (kernels/attention_observer.h).
struct AttentionMap {
  int64_t layer = 0;  // counted from 0
  Tensor weights;     // [H, T, T] by head, query and key; each row sums to one
  Tensor visible;     // [T], int64: keys that each query sees
};

/// What a head does on such a text: means over its queries but the first, which sees itself alone. NaN without any.
struct HeadFigures {
  double entropy_nats = 0;   // of - sum_j w_ij ln w_ij
  double entropy_share = 0;  // of what it could be at most: sum_i of entropies / sum_i of ln(visible keys)
  double on_self = 0;        // weight w_ii
  double on_previous = 0;    // w_i,i-1: 1 for a previous-token head
  double on_first = 0;       // w_i0: near 1 where a head rests on an attention sink
};

/// Reads a text once and keeps the weights of `layers`, in the order of the layers. The model's mode is evaluation
/// meanwhile, and no gradient is kept. Errors: std::runtime_error that says what is wrong with the ids (empty, longer
/// than the context, outside the vocabulary); a layer that has no attention weights.
std::vector<AttentionMap> attention_maps(ModelImpl& model, const std::vector<int64_t>& ids,
                                         const std::vector<int64_t>& layers);

/// One for each head of the map.
std::vector<HeadFigures> head_figures(const AttentionMap& map);

}  // namespace blockzoo
