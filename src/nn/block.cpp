#include "blockzoo/nn/block.h"

namespace blockzoo {

PositionDims position_dims(const BlockConfig& block, const Dims& dims) {
  return std::visit(
      [&](const auto& attention) {
        return PositionDims{.model = dims.model,
                            .context = dims.context,
                            .heads = attention.heads,
                            .rotary_width = attention.rotary_width(dims.model)};
      },
      block.attention);
}

}  // namespace blockzoo
