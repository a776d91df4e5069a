#include "blockzoo/nn/layout/parallel_two_norms.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/block.h"

namespace blockzoo {

ParallelTwoNormsBlockImpl::ParallelTwoNormsBlockImpl(const ParallelTwoNormsConfig&, const BlockConfig& block,
                                                     const Dims& dims)
    : BlockImpl(block, dims),
      attention_norm_(register_module("attention_norm", make_norm(block.norm, {dims.model}))),
      ffn_norm_(register_module("ffn_norm", make_norm(block.norm, {dims.model}))),
      attention_(register_module("attention", make_attention(block.attention, dims))),
      ffn_(register_module("ffn", make_ffn(block.ffn, dims))) {}

Tensor ParallelTwoNormsBlockImpl::sublayers(const Tensor& x, const Context& context) {
  return x + branch(attention_(attention_norm_(x), context)) + branch(ffn_(ffn_norm_(x)));
}

}  // namespace blockzoo
