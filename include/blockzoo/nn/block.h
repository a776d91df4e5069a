#pragma once

#include "blockzoo/core/make.h"
#include "blockzoo/nn/layout.h"
#include "blockzoo/nn/position.h"

namespace blockzoo {

/// One layer: how its parts are wired and what they are.
struct BlockConfig {
  LayoutConfig layout;
  NormConfig norm;
  PositionConfig position;
  AttentionConfig attention;
  FfnConfig ffn;
  double dropout = 0;
  double residual_scale = 1;
  bool output_factor = false;

  static void fields(auto& self, auto& visit) {
    visit("layout", self.layout, "where the norms stand and how the sublayers are wired");
    visit("norm", self.norm, "every norm of the block");
    visit("position", self.position, "position encoding");
    visit("attention", self.attention, "attention sublayer");
    visit("ffn", self.ffn, "feed-forward sublayer");
    visit("dropout", self.dropout, dropout_rate, "share of a sublayer's output dropped in training");
    visit("residual_scale", self.residual_scale, positive, "factor of what a sublayer adds to the stream");
    visit("output_factor", self.output_factor, "learn one factor of the layer's output, which starts at 1 (Gemma 4)");
  }
};

inline Block make_block(const BlockConfig& block, const Dims& dims) {
  return make<BlockImpl>(block.layout, block, dims);
}

/// What the block's position encoding must know about its attention.
PositionDims position_dims(const BlockConfig& block, const Dims& dims);

}  // namespace blockzoo
