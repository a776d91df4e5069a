#pragma once

#include "lab/traced_operators.h"

namespace blockzoo {

/// Keys and values that a later layer may read again.
struct TracedKeys {
  Traced keys, values;
  bool values_in_slices = false;  // between other numbers of one array
};

/// One attention sublayer on a tape. `reused` are the keys and values of an earlier layer, where the layer has none.
class TracedAttention {
 public:
  TracedAttention(TracedOperators& operators, const BlockConfig& block, double model, std::string layer)
      : on_(operators), block_(block), model_(model), layer_(std::move(layer)) {}

  Traced forward(const Traced& x, const TracedKeys* reused, TracedKeys& made);

 private:
  /// Sizes of attend(): heads, key heads, widths of keys and values.
  struct Heads {
    double heads, key_heads, width, value_width;
  };
  struct Modifiers {
    double dropout;
    bool capped, windowed;
  };
  Traced of(const SoftmaxAttentionConfig& attention, const Traced& x, const TracedKeys* reused, TracedKeys& made);
  Traced of(const LatentAttentionConfig& attention, const Traced& x, const TracedKeys* reused, TracedKeys& made);
  TracedKeys latent_keys(const LatentAttentionConfig& attention, const Traced& x);
  Traced rotated(const Traced& x);
  /// What is added to the scores of each sequence, head and pair, or nothing.
  Traced relative_scores(const Traced& q, const Heads& heads);
  Traced content_queries(const Traced& q);
  Traced attend(const Traced& q, const TracedKeys& seen, const Heads& heads, const Traced& relative,
                const Modifiers& with);
  Traced in_tiles(const Traced& q, const TracedKeys& seen, const Heads& heads, const Traced& relative);
  Traced by_formula(const Traced& q, const TracedKeys& seen, const Heads& heads, const Traced& relative,
                    const Modifiers& with);
  Traced by_library(const Traced& q, const TracedKeys& seen, const Heads& heads, bool windowed);
  double pairs(const Heads& heads) const;  // of query and key, of every sequence and head

  TracedOperators& on_;
  const BlockConfig& block_;
  const double model_;
  const std::string layer_;
};

}  // namespace blockzoo
