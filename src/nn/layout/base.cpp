#include "blockzoo/nn/layout/base.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/block.h"

namespace blockzoo {

BlockImpl::BlockImpl(const BlockConfig& block) : dropout_(block.dropout), scale_(block.residual_scale) {}

Tensor BlockImpl::branch(const Tensor& y) const {
  const auto kept = dropout_ > 0 ? at::dropout(y, dropout_, is_training()) : y;
  return scale_ == 1 ? kept : kept * scale_;
}

}  // namespace blockzoo
