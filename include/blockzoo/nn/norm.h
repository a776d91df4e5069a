#pragma once

#include <variant>

#include "blockzoo/core/make.h"
#include "blockzoo/nn/norm/dynamic_tanh.h"
#include "blockzoo/nn/norm/layer_norm.h"
#include "blockzoo/nn/norm/none.h"
#include "blockzoo/nn/norm/rms_norm.h"
#include "blockzoo/nn/norm/scale_norm.h"

namespace blockzoo {

/// Every norm in the zoo; the first is the default. A new norm is added to this list.
using NormConfig = std::variant<RmsNormConfig, LayerNormConfig, ScaleNormConfig, DynamicTanhConfig, NoNormConfig>;

inline Norm make_norm(const NormConfig& config, at::IntArrayRef shape) { return make<NormImpl>(config, shape); }

}  // namespace blockzoo
