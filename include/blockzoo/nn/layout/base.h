#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <string_view>

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/attention.h"
#include "blockzoo/nn/ffn.h"
#include "blockzoo/nn/layer_embedding.h"
#include "blockzoo/nn/norm.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

struct BlockConfig;

/// One layer of the stack: the layout's sublayers; then, where there are layer embeddings, what the layer reads of its
/// own (layer_embedding.h); then its factor.
/// Shapes:     x [B, T, D] -> y [B, T, D].
/// Parameters: layer_input, only with layer embeddings; output_factor [1], starts at one, only when the block has one.
class BlockImpl : public torch::nn::Module {
 public:
  Tensor forward(const Tensor& x, const Context& context);

 protected:
  BlockImpl(const BlockConfig& block, const Dims& dims);

  virtual Tensor sublayers(const Tensor& x, const Context& context) = 0;

  /// What a sublayer adds to the stream: residual_scale * dropout(y).
  Tensor branch(const Tensor& y) const;

 private:
  const double dropout_;
  const double scale_;
  LayerInput layer_input_{nullptr};
  Tensor output_factor_;
};
TORCH_MODULE(Block);

}  // namespace blockzoo
