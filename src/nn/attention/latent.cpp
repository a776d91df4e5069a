#include "blockzoo/nn/attention/latent.h"

#include <ATen/ATen.h>

#include <cmath>

#include "blockzoo/kernels/attention.h"
#include "blockzoo/kernels/linear.h"
#include "blockzoo/nn/position/base.h"

namespace blockzoo {
namespace {

Linear inner(int64_t in, int64_t out) { return Linear(LinearConfig{.in = in, .out = out}); }

/// The latents and shared rotary keys that queries may look at, one behind the other: [B, S, 1, latent + Kr].
KeysValues seen_latents(const Tensor& down, Norm& norm, int64_t latent, const Context& context) {
  const auto parts = down.unsqueeze(2).split_with_sizes({latent, down.size(-1) - latent}, -1);  // [B, T, 1, ...]
  return context.seen({at::cat({norm(parts[0]), context.position->rotate(parts[1], context.places)}, -1), {}});
}

/// Each head's vectors times its matrix: x [B, 1, H, n], w [H, n, m] -> [B, 1, H, m].
Tensor by_head(const Tensor& x, const Tensor& w) {
  return batched_matmul(x.squeeze(1).transpose(0, 1), w).transpose(0, 1).unsqueeze(1);
}

}  // namespace

LatentAttentionConfig LatentAttentionConfig::resolved(int64_t model) const {
  auto full = *this;
  full.key_value_rank = latent_width(model);
  full.nope_width = still_width(model);
  full.rope_width = rotary_width(model);
  full.value_width = width_of_value(model);
  full.scale = scale.value_or(1 / std::sqrt(static_cast<double>(*full.nope_width + *full.rope_width)));
  return full;
}

LatentAttentionImpl::LatentAttentionImpl(const LatentAttentionConfig& config, const Dims& dims)
    : config_(config),
      latent_(config.latent_width(dims.model)),
      still_(config.still_width(dims.model)),
      rotary_(config.rotary_width(dims.model)),
      value_(config.width_of_value(dims.model)) {
  const bool own = !config.reuse_keys_values;
  if (own) {
    key_value_down_ = register_module("key_value_down", inner(dims.model, latent_ + rotary_));
    key_value_up_ = register_module("key_value_up", inner(latent_, config.heads * (still_ + value_)));
  }
  output_ = register_module("output", Linear(LinearConfig{.in = config.heads * value_,
                                                          .out = dims.model,
                                                          .bias = config.output_bias,
                                                          .role = LinearRole::kResidualOutput}));
  if (own) {
    key_value_norm_ = register_module("key_value_norm", make_norm(config.latent_norm, {latent_}));
    value_norm_ = register_module("value_norm", make_norm(config.value_norm, {value_}));
  }
  const auto query_width = config.heads * (still_ + rotary_);
  if (config.query_rank == 0) {
    query_ = register_module("query", inner(dims.model, query_width));
  } else {
    query_down_ = register_module("query_down", inner(dims.model, config.query_rank));
    query_norm_ = register_module("query_norm", make_norm(config.latent_norm, {config.query_rank}));
    query_up_ = register_module("query_up", inner(config.query_rank, query_width));
  }
}

Tensor LatentAttentionImpl::queries(const Tensor& x) {
  const auto q = query_.is_empty() ? query_up_(query_norm_(query_down_(x))) : query_(x);
  return q.unflatten(-1, {config_.heads, still_ + rotary_});
}

KeysValues LatentAttentionImpl::keys_values(const Tensor& x, const Context& context) {
  if (key_value_down_.is_empty()) {
    TORCH_CHECK(context.reused != nullptr, "[latent] keys and values of an earlier layer must be given");
    return *context.reused;
  }
  const auto seen = seen_latents(key_value_down_(x), key_value_norm_, latent_, context);
  const auto kept = seen.keys.split_with_sizes({latent_, rotary_}, -1);  // latent and shared key [B, S, 1, ...]
  const auto up = key_value_up_(kept[0].squeeze(2)).unflatten(-1, {config_.heads, still_ + value_});
  const auto kv = up.split_with_sizes({still_, value_}, -1);  // [B, S, H, ...]
  const auto key = at::cat({kv[0], kept[1].expand({-1, -1, config_.heads, -1}).to(kv[0].dtype())}, -1);
  return {key, value_norm_(kv[1]), seen.absent};  // [B, S, H, Kn + Kr] and [B, S, H, Kv]
}

Tensor LatentAttentionImpl::forward(const Tensor& x, const Context& context) {
  const auto& position = *context.position;
  const auto q = queries(x).split_with_sizes({still_, rotary_}, -1);
  const auto turned = position.rotate(q[1], context.places);  // [B, T, H, Kr]
  const auto rotary = position.content_queries(turned);
  AttendOptions options{.scale = config_.scale.value_or(1 / std::sqrt(static_cast<double>(still_ + rotary_))),
                        .window = config_.window,
                        .softcap = config_.softcap,
                        .dropout = is_training() ? config_.dropout : 0};
  const auto mixed = [&](const Tensor& query, const KeysValues& seen) {
    position.add_scores(turned, seen.keys.size(1), options);
    options.absent = seen.absent;
    return attend(query, seen.keys, seen.values, options);
  };
  const bool linear_up = !key_value_down_.is_empty() && std::holds_alternative<NoNormConfig>(config_.value_norm);
  if (linear_up && context.cache != nullptr && context.made == nullptr && x.size(1) == 1) {
    // W_uk goes to the query's side and W_uv to the output's, so that one step reads the latents alone (section 2.1.2).
    const auto up = key_value_up_->weight.unflatten(0, {config_.heads, still_ + value_});  // [H, Kn + Kv, latent]
    const auto query = at::cat({by_head(q[0], up.slice(1, 0, still_)), rotary}, -1);       // [B, 1, H, latent + Kr]
    auto seen = seen_latents(key_value_down_(x), key_value_norm_, latent_, context);       // [B, S, 1, latent + Kr]
    seen.values = seen.keys.slice(-1, 0, latent_);
    const auto y = by_head(mixed(query, seen), up.slice(1, still_).transpose(1, 2));  // [B, 1, H, Kv]
    return output_(y.flatten(-2));
  }
  const auto seen = keys_values(x, context);
  if (context.made != nullptr) *context.made = seen;
  const auto y = mixed(at::cat({q[0], rotary}, -1), seen);  // [B, T, H, Kv]
  return output_(y.flatten(-2));                            // [B, T, D]
}

}  // namespace blockzoo
