#include "blockzoo/nn/position/learned.h"

#include <ATen/ATen.h>

namespace blockzoo {

LearnedPositionImpl::LearnedPositionImpl(const LearnedPositionConfig& config, const PositionDims& dims)
    : unused_rows_(config.unused_rows),
      table_(register_module("table", Embedding(config.unused_rows + dims.context, dims.model))) {}

Tensor LearnedPositionImpl::embed(const Tensor& x, int64_t first) const {
  const auto start = unused_rows_ + first;
  const auto& table = table_->weight;
  TORCH_CHECK(start + x.size(1) <= table.size(0), "[learned] positions up to ", first + x.size(1),
              " are asked for, but there are ", table.size(0) - unused_rows_);
  return x + table.slice(0, start, start + x.size(1));
}

}  // namespace blockzoo
