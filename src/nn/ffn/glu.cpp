#include "blockzoo/nn/ffn/glu.h"

#include "blockzoo/kernels/activation.h"
#include "blockzoo/nn/layer_observer.h"

namespace blockzoo {
namespace {

LinearConfig inner(const GluConfig& config, const Dims& dims) {
  return {.in = dims.model, .out = config.resolve(dims.model, GluConfig::default_ratio), .bias = config.bias};
}

LinearConfig down(const GluConfig& config, const Dims& dims) {
  return {.in = config.resolve(dims.model, GluConfig::default_ratio),
          .out = dims.model,
          .bias = config.bias,
          .role = LinearRole::kResidualOutput};
}

}  // namespace

GluImpl::GluImpl(const GluConfig& config, const Dims& dims)
    : activation_(config.activation),
      gate_(register_module("gate", Linear(inner(config, dims)))),
      up_(register_module("up", Linear(inner(config, dims)))),
      down_(register_module("down", Linear(down(config, dims)))) {}

Tensor GluImpl::forward(const Tensor& x) {
  const auto inner = linear_maps(x, {gate_, up_});
  return down_(heard_hidden(activation_, gated(activation_, inner[0], inner[1])));
}

}  // namespace blockzoo
