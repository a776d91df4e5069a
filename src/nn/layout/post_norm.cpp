#include "blockzoo/nn/layout/post_norm.h"

#include <ATen/ATen.h>

#include "blockzoo/nn/block.h"

namespace blockzoo {

PostNormBlockImpl::PostNormBlockImpl(const PostNormConfig&, const BlockConfig& block, const Dims& dims)
    : BlockImpl(block, dims),
      attention_norm_(register_module("attention_norm", make_norm(block.norm, {dims.model}))),
      ffn_norm_(register_module("ffn_norm", make_norm(block.norm, {dims.model}))),
      attention_(register_module("attention", make_attention(block.attention, dims))),
      ffn_(register_module("ffn", make_ffn(block.ffn, dims))) {}

Tensor PostNormBlockImpl::sublayers(const Tensor& x, const Context& context) {
  const auto h = attention_norm_(x + branch(attention_(x, context)));
  return ffn_norm_(h + branch(ffn_(h)));
}

}  // namespace blockzoo
