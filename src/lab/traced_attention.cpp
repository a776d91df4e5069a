#include "lab/traced_attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>

#include <cmath>

#include "kernels/rows/instructions.h"

namespace blockzoo {
namespace {

constexpr double kWide = 4, kNumber = 8;       // bytes of float32 and of an index
constexpr double kTileEdge = 64, kLanes = 16;  // what kernels/rows fills up to

double filled_up(double count, double step) { return std::ceil(count / step) * step; }

/// Whether LibTorch's flash attention takes fewer key heads than query heads: 2.13's does, 2.6's does not.
bool flash_takes_groups() {
  static const bool takes = [] {
    const at::AutoGradMode with_grad(true);
    const auto q = at::zeros({1, 2, 2, 8}).requires_grad_(), k = at::zeros({1, 1, 2, 8});
    const auto y = at::scaled_dot_product_attention(q, k, k, {}, /*dropout_p=*/0, /*is_causal=*/true, /*scale=*/1.0,
                                                    /*enable_gqa=*/true);
    return y.grad_fn()->name().find("Flash") != std::string::npos;
  }();
  return takes;
}

const NormConfig& norm_of(const QkNormConfig& config) {
  static const NormConfig none = NoNormConfig{};
  return std::visit(
      []<class Kind>(const Kind& kind) -> const NormConfig& {
        if constexpr (std::is_same_v<Kind, NoQkNormConfig>)
          return none;
        else
          return kind.norm;
      },
      config);
}

}  // namespace

double TracedAttention::pairs(const Heads& heads) const {
  const auto& settings = on_.settings();
  return settings.batch * heads.heads * settings.length * settings.length;
}

Traced TracedAttention::rotated(const Traced& x) {
  const auto* rope = std::get_if<RopePositionConfig>(&block_.position);
  return rope != nullptr ? on_.rotated(x, rope->rotary_fraction) : x;
}

Traced TracedAttention::forward(const Traced& x, const TracedKeys* reused, TracedKeys& made) {
  return std::visit([&](const auto& attention) { return of(attention, x, reused, made); }, block_.attention);
}

Traced TracedAttention::of(const SoftmaxAttentionConfig& attention, const Traced& x, const TracedKeys* reused,
                           TracedKeys& made) {
  const auto width = static_cast<double>(attention.width_of_head(static_cast<int64_t>(model_)));
  const Heads heads{static_cast<double>(attention.heads), static_cast<double>(attention.key_heads()), width, width};
  const bool full = std::holds_alternative<FullQkNormConfig>(attention.qk_norm);
  const bool own_gains = std::holds_alternative<HeadOwnQkNormConfig>(attention.qk_norm);
  const auto normed = [&](const Traced& y, double count) {
    return on_.norm(norm_of(attention.qk_norm), y, full ? count * width : width, own_gains);
  };
  auto q = on_.linear(x, layer_ + "query", model_, heads.heads * width);
  q = rotated(normed(q, heads.heads));
  if (reused != nullptr) {
    made = *reused;
  } else {
    const auto k = on_.linear(x, layer_ + "key", model_, heads.key_heads * width);
    const auto v = attention.keys_as_values ? k : on_.linear(x, layer_ + "value", model_, heads.key_heads * width);
    made = {rotated(normed(k, heads.key_heads)), on_.norm(attention.value_norm, v, width), false};
  }
  const auto relative = relative_scores(q, heads);
  const auto y = attend(content_queries(q), made, heads, relative,
                        {attention.dropout, attention.softcap > 0, attention.window > 0});
  return on_.linear(y, layer_ + "output", heads.heads * width, model_);
}

TracedKeys TracedAttention::latent_keys(const LatentAttentionConfig& attention, const Traced& x) {
  auto& tape = on_.tape();
  const auto model = static_cast<int64_t>(model_);
  const auto latent = static_cast<double>(attention.latent_width(model));
  const auto still = static_cast<double>(attention.still_width(model));
  const auto rotary = static_cast<double>(attention.rotary_width(model));
  const auto value = static_cast<double>(attention.width_of_value(model));
  const auto heads = static_cast<double>(attention.heads), tokens = on_.settings().tokens();
  const auto part = [](const Traced& whole, double values) {
    auto view = whole;
    view.values = values;
    return view;
  };
  const auto down = on_.linear(x, layer_ + "key_value_down", model_, latent + rotary);
  const bool copied = on_.settings().fast() && !std::holds_alternative<NoNormConfig>(attention.latent_norm);
  const auto latents = part(down, tokens * latent);
  const auto normed = on_.norm(attention.latent_norm, copied ? on_.mapped(latents) : latents, latent);
  const auto shared = rotated(part(down, tokens * rotary));
  const auto seen = tape.apply({normed, shared}, {.values = down.values, .each = down.each});
  const auto up = on_.linear(part(seen, tokens * latent), layer_ + "key_value_up", latent, heads * (still + value));
  const auto keys =
      tape.apply({part(up, tokens * heads * still)}, {.values = tokens * heads * (still + rotary), .each = up.each});
  return {keys, on_.norm(attention.value_norm, part(up, tokens * heads * value), value),
          std::holds_alternative<NoNormConfig>(attention.value_norm)};
}

Traced TracedAttention::of(const LatentAttentionConfig& attention, const Traced& x, const TracedKeys* reused,
                           TracedKeys& made) {
  const auto model = static_cast<int64_t>(model_);
  const auto key_width = static_cast<double>(attention.still_width(model) + attention.rotary_width(model));
  const auto count = static_cast<double>(attention.heads), rank = static_cast<double>(attention.query_rank);
  const Heads heads{count, count, key_width, static_cast<double>(attention.width_of_value(model))};
  Traced q;
  if (rank == 0) {
    q = on_.linear(x, layer_ + "query", model_, count * key_width);
  } else {
    q = on_.norm(attention.latent_norm, on_.linear(x, layer_ + "query_down", model_, rank), rank);
    q = on_.linear(q, layer_ + "query_up", rank, count * key_width);
  }
  auto turning = q;
  turning.values = on_.settings().tokens() * count * static_cast<double>(attention.rotary_width(model));
  const auto turned = rotated(turning);
  made = reused != nullptr ? *reused : latent_keys(attention, x);
  const auto relative = relative_scores(turned, heads);
  content_queries(turned);
  const auto query = on_.mapped(q);  // both parts beside each other again
  const auto y = attend(query, made, heads, relative, {attention.dropout, attention.softcap > 0, attention.window > 0});
  return on_.linear(y, layer_ + "output", count * heads.value_width, model_);
}

Traced TracedAttention::content_queries(const Traced& q) {
  const auto* position = std::get_if<TransformerXlPositionConfig>(&block_.position);
  return position != nullptr && position->biases ? on_.mapped(q) : q;
}

Traced TracedAttention::relative_scores(const Traced& q, const Heads& heads) {
  const auto* position = std::get_if<TransformerXlPositionConfig>(&block_.position);
  if (position == nullptr) return {};
  auto& tape = on_.tape();
  const auto biased = position->biases ? on_.mapped(q) : q;
  const auto asking = on_.mapped(on_.mapped(biased));  // times the scale, in the order of a product by heads
  const auto keys = tape.apply({}, {.values = q.values / on_.settings().batch, .each = q.each});
  const auto by_distance = tape.apply({asking, keys}, {.values = pairs(heads),
                                                       .each = q.each,
                                                       .saved = {asking.memory, keys.memory},
                                                       .backward_scratch = q.each * pairs(heads)});
  return tape.cast(on_.mapped(by_distance), kWide);
}

Traced TracedAttention::attend(const Traced& q, const TracedKeys& seen, const Heads& heads, const Traced& relative,
                               const Modifiers& with) {
  if (on_.settings().fast()) return in_tiles(q, seen, heads, relative);
  const bool biased = relative.values > 0 || std::holds_alternative<AlibiPositionConfig>(block_.position) ||
                      std::holds_alternative<RelativeBiasPositionConfig>(block_.position);
  if (!biased && !with.capped && with.dropout == 0) return by_library(q, seen, heads, with.windowed);
  return by_formula(q, seen, heads, relative, with);
}

Traced TracedAttention::in_tiles(const Traced& q, const TracedKeys& seen, const Heads& heads, const Traced& relative) {
  const auto& settings = on_.settings();
  const auto tokens = settings.tokens();
  const auto width = filled_up(heads.width, kLanes), value = filled_up(heads.value_width, kLanes);
  const bool wider = width != heads.width, values_wider = value != heads.value_width;
  const auto of_queries = q.each * tokens * heads.heads, of_keys = q.each * tokens * heads.key_heads;
  const auto gathered =
      (wider ? (of_queries + of_keys) * width : 0) + (values_wider || seen.values_in_slices ? of_keys * value : 0);
  const bool pairs = q.each != kWide && rows::multiplies_pairs();
  const auto keys_across =
      (pairs ? q.each : kWide) * settings.batch * filled_up(settings.length, kTileEdge) * heads.key_heads * width;
  // Gradients of keys are summed, or rounded by themselves.
  const bool of_heads = (q.each != kWide && !pairs) || heads.heads != heads.key_heads;
  const auto of_head = kWide * tokens * heads.heads, of_key_gradients = of_heads ? of_head : of_queries;
  std::vector<Traced> inputs{q, seen.keys, seen.values};
  std::vector<Memory> saved{q.memory, seen.keys.memory, seen.values.memory};
  if (relative.values > 0) {
    inputs.push_back(relative);
    saved.push_back(relative.memory);
  }
  return on_.tape().apply(inputs, {.values = tokens * heads.heads * heads.value_width,
                                   .each = q.each,
                                   .saved = saved,
                                   .saves_result = true,
                                   .extra = of_head,
                                   .forward_scratch = gathered + keys_across + (values_wider ? of_queries * value : 0),
                                   .backward_scratch = gathered + (wider ? of_queries * width : 0) +
                                                       (values_wider ? 2 * of_queries * value : 0) +
                                                       (of_heads || wider ? of_key_gradients * width : 0) +
                                                       (of_heads || values_wider ? of_key_gradients * value : 0)});
}

Traced TracedAttention::by_formula(const Traced& q, const TracedKeys& seen, const Heads& heads, const Traced& relative,
                                   const Modifiers& with) {
  auto& tape = on_.tape();
  const auto& settings = on_.settings();
  const auto square = settings.length * settings.length;
  const auto each = settings.half() ? 2 : q.each;
  const auto query = on_.mapped(tape.cast(q, each)), keys = on_.mapped(tape.cast(seen.keys, each));
  auto scores = tape.apply({query, keys}, {.values = pairs(heads), .each = each, .saved = {query.memory, keys.memory}});
  scores = tape.cast(scores, kWide);
  if (with.capped) scores = on_.capped_by_formula(scores);
  Memory spread;  // biases of distances, for all heads and pairs
  if (std::holds_alternative<AlibiPositionConfig>(block_.position) ||
      std::holds_alternative<RelativeBiasPositionConfig>(block_.position))
    spread = tape.allocate(kWide * heads.heads * square);
  if (relative.values > 0)
    scores = tape.add(scores, relative);
  else if (spread)
    scores = tape.apply({scores}, {.values = scores.values});
  const bool learns = std::holds_alternative<RelativeBiasPositionConfig>(block_.position);
  scores = tape.apply({scores}, {.values = scores.values, .extra = square + (learns ? kNumber * square : 0)});
  auto weights = tape.apply({scores}, {.values = scores.values, .saves_result = true});
  weights = tape.cast(on_.dropped(weights, with.dropout), seen.values.each);
  const auto values = on_.mapped(seen.values);
  const auto mixed = tape.apply({weights, values}, {.values = settings.tokens() * heads.heads * heads.value_width,
                                                    .each = seen.values.each,
                                                    .saved = {weights.memory, values.memory}});
  return on_.mapped(mixed);  // tokens first again
}

Traced TracedAttention::by_library(const Traced& q, const TracedKeys& seen, const Heads& heads, bool windowed) {
  auto& tape = on_.tape();
  const auto& settings = on_.settings();
  const auto square = settings.length * settings.length;
  const auto results = settings.tokens() * heads.heads * heads.value_width;
  const bool grouped = heads.heads != heads.key_heads;
  if (heads.width == heads.value_width && (!grouped || flash_takes_groups())) {
    const auto each = settings.half() ? 2 : q.each;
    const auto query = tape.cast(q, each), keys = tape.cast(seen.keys, each), values = tape.cast(seen.values, each);
    return tape.apply({query, keys, values},
                      {.values = results,
                       .each = each,
                       .saved = {query.memory, keys.memory, values.memory},
                       .saves_result = true,
                       .extra = kWide * settings.tokens() * heads.heads + (windowed ? each * square : 0)});
  }
  // Its formula, in float32, with keys and values of every query head.
  const auto of_each_head = [&](const Traced& x, double width) {
    return grouped ? tape.apply({x}, {.values = settings.tokens() * heads.heads * width, .each = x.each}) : x;
  };
  const auto query = on_.mapped(on_.mapped(tape.cast(q, kWide)));  // scaled, then in the order of a product by heads
  const auto keys = on_.mapped(on_.mapped(of_each_head(tape.cast(seen.keys, kWide), heads.width)));
  const auto values = on_.mapped(of_each_head(tape.cast(seen.values, kWide), heads.value_width));
  const auto scores = tape.apply({query, keys}, {.values = pairs(heads), .saved = {query.memory, keys.memory}});
  const auto weights = tape.apply({scores}, {.values = scores.values, .saves_result = true});
  const auto mixed = tape.apply({weights, values}, {.values = results, .saved = {weights.memory, values.memory}});
  return on_.mapped(tape.cast(mixed, q.each));
}

}  // namespace blockzoo
