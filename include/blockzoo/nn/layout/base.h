#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <string_view>

#include "blockzoo/core/fields.h"
#include "blockzoo/nn/attention.h"
#include "blockzoo/nn/ffn.h"
#include "blockzoo/nn/norm.h"
#include "blockzoo/nn/types.h"

namespace blockzoo {

struct BlockConfig;

/// One layer of the stack. Shapes: x [B, T, D] -> y [B, T, D].
class BlockImpl : public torch::nn::Module {
 public:
  virtual Tensor forward(const Tensor& x, const Context& context) = 0;

 protected:
  explicit BlockImpl(const BlockConfig& block);

  /// What a sublayer adds to the stream: residual_scale * dropout(y).
  Tensor branch(const Tensor& y) const;

 private:
  const double dropout_;
  const double scale_;
};
TORCH_MODULE(Block);

}  // namespace blockzoo
