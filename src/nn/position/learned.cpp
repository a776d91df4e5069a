#include "blockzoo/nn/position/learned.h"

#include <ATen/ATen.h>

namespace blockzoo {

LearnedPositionImpl::LearnedPositionImpl(const LearnedPositionConfig& config, const PositionDims& dims)
    : unused_rows_(config.unused_rows),
      table_(register_module("table", Embedding(config.unused_rows + dims.context, dims.model))) {}

Tensor LearnedPositionImpl::embed(const Tensor& x, const Places& places) const {
  return x + rows_at(places, x.size(1), table_->weight.slice(0, unused_rows_), "learned");
}

}  // namespace blockzoo
