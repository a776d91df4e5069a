#pragma once

#include <variant>

#include "blockzoo/core/make.h"
#include "blockzoo/nn/ffn/glu.h"
#include "blockzoo/nn/ffn/mlp.h"

namespace blockzoo {

/// Every feed-forward sublayer in the zoo; the first is the default. A new one is added to this list.
using FfnConfig = std::variant<GluConfig, MlpConfig>;

inline Ffn make_ffn(const FfnConfig& config, const Dims& dims) { return make<FfnImpl>(config, dims); }

}  // namespace blockzoo
