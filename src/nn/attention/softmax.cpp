#include "blockzoo/nn/attention/softmax.h"

#include <ATen/ATen.h>

#include <cmath>

#include "blockzoo/kernels/attention.h"
#include "blockzoo/nn/position/base.h"

namespace blockzoo {
namespace {

Linear inner(int64_t in, int64_t out, bool bias) { return Linear(LinearConfig{.in = in, .out = out, .bias = bias}); }

LinearConfig output(const SoftmaxAttentionConfig& config, const Dims& dims) {
  return {.in = config.heads * config.width_of_head(dims.model),
          .out = dims.model,
          .bias = config.output_bias,
          .role = LinearRole::kResidualOutput};
}

}  // namespace

SoftmaxAttentionConfig SoftmaxAttentionConfig::resolved(int64_t model) const {
  auto full = *this;
  full.kv_heads = key_heads();
  full.head_width = width_of_head(model);
  full.scale = scale.value_or(1 / std::sqrt(static_cast<double>(*full.head_width)));
  return full;
}

SoftmaxAttentionImpl::SoftmaxAttentionImpl(const SoftmaxAttentionConfig& config, const Dims& dims)
    : config_(config), width_(config.width_of_head(dims.model)) {
  const auto keys = config.key_heads() * width_;
  const bool own = !config.reuse_keys_values;
  query_ = register_module("query", inner(dims.model, config.heads * width_, config.query_bias));
  if (own) key_ = register_module("key", inner(dims.model, keys, config.key_bias));
  if (own && !config.keys_as_values) value_ = register_module("value", inner(dims.model, keys, config.value_bias));
  output_ = register_module("output", Linear(output(config, dims)));
  query_norm_ = register_module("query_norm", make_qk_norm(config.qk_norm, config.heads, width_));
  if (!own) return;
  key_norm_ = register_module("key_norm", make_qk_norm(config.qk_norm, config.key_heads(), width_));
  value_norm_ = register_module("value_norm", make_norm(config.value_norm, {width_}));
}

Tensor SoftmaxAttentionImpl::by_heads(const Tensor& x, int64_t heads) const {
  return x.view({x.size(0), x.size(1), heads, width_});
}

KeysValues SoftmaxAttentionImpl::keys_values(const Tensor& key, const Tensor& value, const Context& context) {
  if (!key.defined()) {
    TORCH_CHECK(context.reused != nullptr, "[softmax] keys and values of an earlier layer must be given");
    return *context.reused;
  }
  const auto k = by_heads(key, config_.key_heads());                          // [B, T, G, K]
  const auto v = value.defined() ? by_heads(value, config_.key_heads()) : k;  // [B, T, G, K]
  const auto turned = context.position->rotate(apply_qk_norm(config_.qk_norm, key_norm_, k), context.places);
  return context.seen({turned, value_norm_(v)});  // [B, S, G, K]
}

Tensor SoftmaxAttentionImpl::forward(const Tensor& x, const Context& context) {
  const auto& position = *context.position;
  const auto maps = linear_maps(x, {query_, key_, value_});
  auto q = by_heads(maps[0], config_.heads);  // [B, T, H, K]
  q = position.rotate(apply_qk_norm(config_.qk_norm, query_norm_, q), context.places);
  const auto seen = keys_values(maps[1], maps[2], context);  // [B, S, G, K]
  if (context.made != nullptr) *context.made = seen;
  AttendOptions options{.scale = config_.scale.value_or(1 / std::sqrt(static_cast<double>(width_))),
                        .window = config_.window,
                        .softcap = config_.softcap,
                        .dropout = is_training() ? config_.dropout : 0,
                        .absent = seen.absent};
  position.add_scores(q, seen.keys.size(1), options);
  const auto y = attend(position.content_queries(q), seen.keys, seen.values, options);  // [B, T, H, K]
  return output_(y.flatten(-2));                                                        // [B, T, D]
}

}  // namespace blockzoo
