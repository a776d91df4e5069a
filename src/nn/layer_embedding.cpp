#include "blockzoo/nn/layer_embedding.h"

#include <ATen/ATen.h>

#include <cmath>

#include "blockzoo/kernels/activation.h"

namespace blockzoo {

LayerEmbeddingImpl::LayerEmbeddingImpl(const LayerEmbeddingSizes& sizes, const NormConfig& norm)
    : sizes_(sizes),
      table_(register_module("table", Embedding(sizes.vocabulary, sizes.layers * sizes.width))),
      projection_(
          register_module("projection", Linear(LinearConfig{.in = sizes.model, .out = sizes.layers * sizes.width}))),
      norm_(register_module("norm", make_norm(norm, {sizes.width}))) {}

Tensor LayerEmbeddingImpl::forward(const Tensor& tokens, const Tensor& x) {
  const auto by_layer = [&](const Tensor& y) { return y.unflatten(-1, {sizes_.layers, sizes_.width}); };
  const auto of_stream = by_layer(projection_(x) / std::sqrt(static_cast<double>(sizes_.model)));  // [B, T, L, P]
  const auto of_token = by_layer(table_(tokens) * std::sqrt(static_cast<double>(sizes_.width)));   // the same
  return (norm_(of_stream) + of_token) / std::sqrt(2.0);
}

LayerInputImpl::LayerInputImpl(const Dims& dims, const NormConfig& norm, Activation activation)
    : activation_(activation),
      gate_(register_module("gate", Linear(LinearConfig{.in = dims.model, .out = dims.layer_embedding}))),
      output_(register_module(
          "output",
          Linear(LinearConfig{.in = dims.layer_embedding, .out = dims.model, .role = LinearRole::kResidualOutput}))),
      norm_(register_module("norm", make_norm(norm, {dims.model}))) {}

Tensor LayerInputImpl::forward(const Tensor& y, const Tensor& p) {
  return norm_(output_(activate(activation_, gate_(y)) * p));
}

}  // namespace blockzoo
