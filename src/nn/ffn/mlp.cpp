#include "blockzoo/nn/ffn/mlp.h"

#include "blockzoo/kernels/activation.h"
#include "blockzoo/nn/layer_observer.h"

namespace blockzoo {
namespace {

LinearConfig up(const MlpConfig& config, const Dims& dims) {
  return {.in = dims.model, .out = config.resolve(dims.model, MlpConfig::default_ratio), .bias = config.bias};
}

LinearConfig down(const MlpConfig& config, const Dims& dims) {
  return {.in = config.resolve(dims.model, MlpConfig::default_ratio),
          .out = dims.model,
          .bias = config.bias,
          .role = LinearRole::kResidualOutput};
}

}  // namespace

MlpImpl::MlpImpl(const MlpConfig& config, const Dims& dims)
    : activation_(config.activation),
      up_(register_module("up", Linear(up(config, dims)))),
      down_(register_module("down", Linear(down(config, dims)))) {}

Tensor MlpImpl::forward(const Tensor& x) { return down_(heard_hidden(activation_, activate(activation_, up_(x)))); }

}  // namespace blockzoo
