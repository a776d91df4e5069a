#pragma once

#include "blockzoo/nn/linear.h"
#include "blockzoo/nn/position/base.h"

namespace blockzoo {

/// A learned number for each bucket of distances and head, added to the scores. Distances below buckets / 2 have a
/// bucket each; longer ones share logarithmic buckets up to max_distance, and the last bucket takes all beyond. One
/// table serves all layers.
/// Source: Raffel et al. 2019, arXiv:1910.10683 (T5's decoder, one direction).
struct RelativeBiasPositionConfig {
  using Impl = class RelativeBiasPositionImpl;
  static constexpr std::string_view kind = "relative_bias";
  static constexpr std::string_view summary =
      "table[bucket(i - j), h] added to the scores, one learned table for all layers";
  static constexpr std::string_view source = "Raffel et al. 2019, arXiv:1910.10683";
  static constexpr bool acts_on_embedding = false;

  int64_t buckets = 32;
  int64_t max_distance = 128;

  static void fields(auto& self, auto& visit) {
    visit("buckets", self.buckets, tensor_size, "rows of the table");
    visit("max_distance", self.max_distance, positive, "distances from here on share the last bucket, tokens");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.buckets >= 2 && self.buckets % 2 == 0, "buckets", "must be even and at least 2");
    expect(self.max_distance > self.buckets / 2, "max_distance", "must be above buckets / 2");
  }
};

/// Parameters: table.weight [buckets, H], drawn by the model's init for embeddings.
class RelativeBiasPositionImpl final : public PositionImpl {
 public:
  RelativeBiasPositionImpl(const RelativeBiasPositionConfig& config, const PositionDims& dims);
  Tensor distance_bias(int64_t distances) const override;

 private:
  Embedding table_;
  Tensor bucket_;  // [context], bucket of each distance
};

}  // namespace blockzoo
