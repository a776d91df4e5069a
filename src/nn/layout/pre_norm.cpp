#include "blockzoo/nn/layout/pre_norm.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/block.h"

namespace blockzoo {

PreNormBlockImpl::PreNormBlockImpl(const PreNormConfig&, const BlockConfig& block, const Dims& dims)
    : BlockImpl(block, dims),
      attention_norm_(register_module("attention_norm", make_norm(block.norm, {dims.model}))),
      ffn_norm_(register_module("ffn_norm", make_norm(block.norm, {dims.model}))),
      attention_(register_module("attention", make_attention(block.attention, dims))),
      ffn_(register_module("ffn", make_ffn(block.ffn, dims))) {}

Tensor PreNormBlockImpl::sublayers(const Tensor& x, const Context& context) {
  const auto h = x + branch(attention_(attention_norm_(x), context));
  return h + branch(ffn_(ffn_norm_(h)));
}

}  // namespace blockzoo
