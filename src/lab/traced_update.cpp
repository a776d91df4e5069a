#include "lab/traced_update.h"

#include <algorithm>

#include "blockzoo/nn/model.h"
#include "blockzoo/nn/parameter.h"
#include "lab/traced_attention.h"

namespace blockzoo {
namespace {

/// One layer of the stack on a tape.
struct TracedBlock {
  TracedOperators& on;
  const BlockConfig& block;
  double model;
  std::string layer;
  const TracedKeys* reused;
  TracedKeys& made;

  Traced norm(const Traced& x) const { return on.norm(block.norm, x, model); }
  Traced attention(const Traced& x) const { return TracedAttention(on, block, model, layer).forward(x, reused, made); }
  Traced branch(const Traced& y) const { return on.scaled(on.dropped(y, block.dropout), block.residual_scale); }
  Traced add(const Traced& x, const Traced& y) const { return on.tape().add(x, branch(y)); }

  Traced ffn(const Traced& x) const {
    return std::visit([&](const auto& kind) { return hidden(kind, x); }, block.ffn);
  }
  Traced hidden(const GluConfig& kind, const Traced& x) const {
    const auto width = hidden_width(kind);
    const auto gate = on.linear(x, layer + "gate", model, width), up = on.linear(x, layer + "up", model, width);
    return on.linear(on.gated(kind.activation, gate, up), layer + "down", width, model);
  }
  Traced hidden(const MlpConfig& kind, const Traced& x) const {
    const auto width = hidden_width(kind);
    return on.linear(on.activated(kind.activation, on.linear(x, layer + "up", model, width)), layer + "down", width,
                     model);
  }
  template <class Kind>
  double hidden_width(const Kind& kind) const {
    return static_cast<double>(kind.resolve(static_cast<int64_t>(model), Kind::default_ratio));
  }

  Traced operator()(const PreNormConfig&, const Traced& x) const {
    const auto h = add(x, attention(norm(x)));
    return add(h, ffn(norm(h)));
  }
  Traced operator()(const PostNormConfig&, const Traced& x) const {
    const auto h = norm(add(x, attention(x)));
    return norm(add(h, ffn(h)));
  }
  Traced operator()(const DoubleNormConfig&, const Traced& x) const {
    const auto h = add(x, norm(attention(norm(x))));
    return add(h, norm(ffn(norm(h))));
  }
  Traced operator()(const OutputNormConfig&, const Traced& x) const {
    const auto h = add(x, norm(attention(x)));
    return add(h, norm(ffn(h)));
  }
  Traced operator()(const ParallelConfig&, const Traced& x) const {
    const auto n = norm(x);
    return add(add(x, attention(n)), ffn(n));
  }
  Traced operator()(const ParallelTwoNormsConfig&, const Traced& x) const {
    return add(add(x, attention(norm(x))), ffn(norm(x)));
  }

  /// With what the layer reads of its own embedding, `width` channels of `input`.
  Traced forward(const Traced& x, const Traced& input, double width) const {
    auto y = std::visit([&](const auto& layout) { return (*this)(layout, x); }, block.layout);
    if (width > 0) {
      const auto activation = std::visit([](const auto& kind) { return kind.activation; }, block.ffn);
      const auto gate = on.activated(activation, on.linear(y, layer + "input_gate", model, width));
      const auto product = on.tape().apply(
          {gate, input}, {.values = gate.values, .each = input.each, .saved = {gate.memory, input.memory}});
      y = add(y, norm(on.linear(product, layer + "input_output", width, model)));
    }
    return block.output_factor ? on.multiplied(y) : y;
  }
};

Traced traced_embedding(TracedOperators& on, const ModelConfig& config) {
  const auto width = static_cast<double>(config.width), table = static_cast<double>(*config.embedding_width);
  auto x = on.lookup("embedding", static_cast<double>(config.vocabulary), table);
  x = on.scaled(x, scale_factor(config.embedding_scale, config.width));
  if (table != width) x = on.linear(x, "embedding_projection", table, width);
  if (std::holds_alternative<LearnedPositionConfig>(config.block.position)) x = on.tape().add(x, {.values = x.values});
  if (std::holds_alternative<SinusoidalPositionConfig>(config.block.position)) x = on.mapped(x);
  return on.dropped(on.norm(config.embedding_norm, x, width), config.embedding_dropout);
}

/// The embeddings of the layers: what every layer reads of each token.
Traced layer_inputs(TracedOperators& on, const ModelConfig& config, const Traced& x) {
  const auto width = static_cast<double>(config.layer_embedding_width), layers = static_cast<double>(config.layers);
  if (width == 0) return {};
  const auto of_stream = on.mapped(on.linear(x, "layer_projection", static_cast<double>(config.width), layers * width));
  const auto of_token = on.mapped(on.lookup("layer_embedding", static_cast<double>(config.vocabulary), layers * width));
  return on.mapped(on.tape().add(on.norm(config.block.norm, of_stream, width), of_token));
}

Traced traced_logits(TracedOperators& on, const ModelConfig& config, const Traced& x) {
  const auto width = static_cast<double>(config.width), table = static_cast<double>(*config.embedding_width);
  auto y = on.norm(*config.final_norm, x, width);
  if (table != width) y = on.linear(y, "head_projection", width, table);
  y = on.linear(y, config.tied ? "embedding" : "head", table, static_cast<double>(config.vocabulary));
  y = on.scaled(y, scale_factor(config.logit_scale, config.width));
  return config.final_softcap > 0 ? on.capped(y) : y;
}

Traced stream_after_layers(TracedOperators& on, const ModelConfig& config, Traced x) {
  const auto layers = expand_layers(config);
  const auto sources = key_value_sources(layers);
  const auto inputs = layer_inputs(on, config, x);
  std::vector<TracedKeys> made(layers.size());
  std::vector<bool> read_later(layers.size(), false);
  for (const auto& source : sources) {
    if (source) read_later[*source] = true;
  }
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    on.tape().enter("layer " + std::to_string(layer));
    auto own = inputs;
    own.values /= static_cast<double>(layers.size());
    const TracedBlock block{.on = on,
                            .block = layers[layer],
                            .model = static_cast<double>(config.width),
                            .layer = "blocks." + std::to_string(layer) + ".",
                            .reused = sources[layer] ? &made[*sources[layer]] : nullptr,
                            .made = made[layer]};
    x = block.forward(x, own, static_cast<double>(config.layer_embedding_width));
    if (!read_later[layer]) made[layer] = {};
  }
  return x;
}

}  // namespace

FixedMemory fixed_memory(const ModelConfig& config, double moments) {
  constexpr double kSingle = 4;
  const BornOn meta(at::kMeta);
  const Model model(config);
  FixedMemory fixed;
  for (const auto& parameter : model->parameters()) {
    const auto values = static_cast<double>(parameter.numel());
    fixed.parameters += kSingle * values;
    fixed.largest = std::max(fixed.largest, values);
  }
  fixed.moments = moments * fixed.parameters;
  for (const auto& buffer : model->buffers())
    fixed.tables += static_cast<double>(buffer.numel()) * static_cast<double>(buffer.element_size());
  return fixed;
}

TracedUpdate traced_update(const ModelConfig& given, const FixedMemory& fixed, const TraceSettings& settings) {
  constexpr double kIdBytes = 16;  // of a token: its id and its target's
  constexpr double kDouble = 8;    // LibTorch takes the norm of a gradient from a copy in float64
  const auto config = resolved(given);
  MemoryMeter meter;
  TracedUpdate update;
  MemoryTape tape(meter);
  const auto always = tape.allocate(fixed.bytes());
  {
    TracedOperators on(tape, settings);
    const auto ids = tape.allocate(kIdBytes * settings.tokens());
    tape.enter("embedding");
    auto stream = stream_after_layers(on, config, traced_embedding(on, config));
    tape.enter("head and loss");
    auto logits = traced_logits(on, config, stream);
    stream = {};
    const auto loss = on.losses(logits);
    logits = {};
    on.forget_casts();
    update.kept = meter.live() - fixed.bytes();
    tape.backward(loss);
  }
  meter.enter("norm of the gradients");
  if (!settings.fast()) tape.allocate(kDouble * fixed.largest);
  update.peak = meter.peak();
  update.moment = meter.moment_of_peak();
  return update;
}

}  // namespace blockzoo
