#pragma once

#include <variant>

#include "blockzoo/core/make.h"
#include "blockzoo/nn/attention/latent.h"
#include "blockzoo/nn/attention/softmax.h"

namespace blockzoo {

/// Every attention in the zoo; the first is the default. A new one is added to this list.
using AttentionConfig = std::variant<SoftmaxAttentionConfig, LatentAttentionConfig>;

inline Attention make_attention(const AttentionConfig& config, const Dims& dims) {
  return make<AttentionImpl>(config, dims);
}

}  // namespace blockzoo
