#pragma once

#include <variant>

#include "blockzoo/nn/layout/double_norm.h"
#include "blockzoo/nn/layout/output_norm.h"
#include "blockzoo/nn/layout/parallel.h"
#include "blockzoo/nn/layout/parallel_two_norms.h"
#include "blockzoo/nn/layout/post_norm.h"
#include "blockzoo/nn/layout/pre_norm.h"

namespace blockzoo {

/// Every block layout in the zoo; the first is the default. A new one is added to this list.
using LayoutConfig = std::variant<PreNormConfig, PostNormConfig, DoubleNormConfig, OutputNormConfig, ParallelConfig,
                                  ParallelTwoNormsConfig>;

}  // namespace blockzoo
