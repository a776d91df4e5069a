#include "blockzoo/nn/layout/base.h"

#include <ATen/ATen.h>

#include "blockzoo/kernels/attention_observer.h"
#include "blockzoo/nn/block.h"
#include "blockzoo/nn/layer_observer.h"
#include "blockzoo/nn/parameter.h"

namespace blockzoo {

BlockImpl::BlockImpl(const BlockConfig& block, const Dims& dims)
    : dropout_(block.dropout), scale_(block.residual_scale) {
  if (dims.layer_embedding > 0) {
    const auto activation = std::visit([](const auto& ffn) { return ffn.activation; }, block.ffn);
    layer_input_ = register_module("layer_input", LayerInput(dims, block.norm, activation));
  }
  if (block.output_factor) output_factor_ = register_parameter("output_factor", born({1}, 1));
}

Tensor BlockImpl::forward(const Tensor& x, const Context& context) {
  auto y = sublayers(x, context);
  if (!layer_input_.is_empty()) y = y + branch(layer_input_(y, context.layer_input));
  if (output_factor_.defined()) y = (y * output_factor_).to(y.scalar_type());
  if (auto* observer = LayerObserver::current()) observer->passed(AttentionLayerScope::current(), x, y);
  return y;
}

Tensor BlockImpl::branch(const Tensor& y) const {
  const auto kept = dropout_ > 0 ? at::dropout(y, dropout_, is_training()) : y;
  return scale_ == 1 ? kept : kept * scale_;
}

}  // namespace blockzoo
