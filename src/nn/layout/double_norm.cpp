#include "blockzoo/nn/layout/double_norm.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/block.h"

namespace blockzoo {

DoubleNormBlockImpl::DoubleNormBlockImpl(const DoubleNormConfig&, const BlockConfig& block, const Dims& dims)
    : BlockImpl(block, dims),
      attention_norm_(register_module("attention_norm", make_norm(block.norm, {dims.model}))),
      attention_output_norm_(register_module("attention_output_norm", make_norm(block.norm, {dims.model}))),
      ffn_norm_(register_module("ffn_norm", make_norm(block.norm, {dims.model}))),
      ffn_output_norm_(register_module("ffn_output_norm", make_norm(block.norm, {dims.model}))),
      attention_(register_module("attention", make_attention(block.attention, dims))),
      ffn_(register_module("ffn", make_ffn(block.ffn, dims))) {}

Tensor DoubleNormBlockImpl::sublayers(const Tensor& x, const Context& context) {
  const auto h = x + branch(attention_output_norm_(attention_(attention_norm_(x), context)));
  return h + branch(ffn_output_norm_(ffn_(ffn_norm_(h))));
}

}  // namespace blockzoo
