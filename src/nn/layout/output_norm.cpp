#include "blockzoo/nn/layout/output_norm.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/block.h"

namespace blockzoo {

OutputNormBlockImpl::OutputNormBlockImpl(const OutputNormConfig&, const BlockConfig& block, const Dims& dims)
    : BlockImpl(block, dims),
      attention_output_norm_(register_module("attention_output_norm", make_norm(block.norm, {dims.model}))),
      ffn_output_norm_(register_module("ffn_output_norm", make_norm(block.norm, {dims.model}))),
      attention_(register_module("attention", make_attention(block.attention, dims))),
      ffn_(register_module("ffn", make_ffn(block.ffn, dims))) {}

Tensor OutputNormBlockImpl::sublayers(const Tensor& x, const Context& context) {
  const auto h = x + branch(attention_output_norm_(attention_(x, context)));
  return h + branch(ffn_output_norm_(ffn_(h)));
}

}  // namespace blockzoo
