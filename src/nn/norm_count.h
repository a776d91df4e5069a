#pragma once

#include "blockzoo/nn/layout.h"

namespace blockzoo {

/// Norms of the stream in one layer.
inline double norm_count(const PreNormConfig&) { return 2; }
inline double norm_count(const PostNormConfig&) { return 2; }
inline double norm_count(const OutputNormConfig&) { return 2; }
inline double norm_count(const DoubleNormConfig&) { return 4; }
inline double norm_count(const ParallelConfig&) { return 1; }
inline double norm_count(const ParallelTwoNormsConfig&) { return 2; }
inline double norm_count(const LayoutConfig& config) {
  return std::visit([](const auto& layout) { return norm_count(layout); }, config);
}

}  // namespace blockzoo
