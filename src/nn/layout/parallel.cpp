#include "blockzoo/nn/layout/parallel.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/block.h"

namespace blockzoo {

ParallelBlockImpl::ParallelBlockImpl(const ParallelConfig&, const BlockConfig& block, const Dims& dims)
    : BlockImpl(block, dims),
      norm_(register_module("norm", make_norm(block.norm, {dims.model}))),
      attention_(register_module("attention", make_attention(block.attention, dims))),
      ffn_(register_module("ffn", make_ffn(block.ffn, dims))) {}

Tensor ParallelBlockImpl::sublayers(const Tensor& x, const Context& context) {
  const auto n = norm_(x);
  return x + branch(attention_(n, context)) + branch(ffn_(n));
}

}  // namespace blockzoo
