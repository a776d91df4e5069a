#pragma once

#include <variant>

#include "blockzoo/core/make.h"
#include "blockzoo/nn/position/alibi.h"
#include "blockzoo/nn/position/learned.h"
#include "blockzoo/nn/position/none.h"
#include "blockzoo/nn/position/relative_bias.h"
#include "blockzoo/nn/position/rope.h"
#include "blockzoo/nn/position/sinusoidal.h"
#include "blockzoo/nn/position/transformer_xl.h"

namespace blockzoo {

/// Every position encoding in the zoo; the first is the default. A new one is added to this list.
using PositionConfig =
    std::variant<RopePositionConfig, NoPositionConfig, LearnedPositionConfig, SinusoidalPositionConfig,
                 AlibiPositionConfig, RelativeBiasPositionConfig, TransformerXlPositionConfig>;

inline Position make_position(const PositionConfig& config, const PositionDims& dims) {
  return make<PositionImpl>(config, dims);
}

}  // namespace blockzoo
