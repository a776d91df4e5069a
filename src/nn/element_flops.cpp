#include "blockzoo/nn/element_flops.h"

#include "nn/norm_count.h"

namespace blockzoo {
namespace {

/// A norm over rows of `n` numbers; "a row" says what is done once for each.
struct NormCounter {
  double n;

  PassFlops operator()(const RmsNormConfig& norm) const {
    // s = 1 / sqrt(sum x^2 / n + eps), four a row; y = g x s.
    // dx = s (g dy) - x (s^3 / n sum (g dy) x), four a row; dg += dy x s.
    return {(norm.gain ? 4 : 3) * n + 4, (norm.gain ? 9 : 5) * n + 4};
  }

  PassFlops operator()(const LayerNormConfig& norm) const {
    // z = (x - m) s with m = sum x / n, s = 1 / sqrt(sum (x - m)^2 / n + eps), five a row; y = g z + b.
    // dx = s (g dy - mean(g dy) - z mean(g dy z)), two a row; dg += dy z, db += dy.
    const double gain = norm.gain ? 1 : 0, bias = norm.bias ? 1 : 0;
    return {(5 + gain + bias) * n + 5, (7 + 3 * gain + bias) * n + 2};
  }

  PassFlops operator()(const ScaleNormConfig&) const {
    // y = x (g / l) with l = max(sqrt(sum x^2), eps), three a row.
    // dx = dy (g / l) - x (g / l^3 sum dy x), four a row; dg += sum dy x / l, two a row.
    return {3 * n + 3, 5 * n + 6};
  }

  PassFlops operator()(const DynamicTanhConfig& norm) const {
    // t = tanh(a x), y = g t + b. u = (g dy) (1 - t^2), dx = a u; da += u x, dg += dy t, db += dy.
    const double bias = norm.bias ? 1 : 0;
    return {(3 + bias) * n, (9 + bias) * n};
  }

  PassFlops operator()(const NoNormConfig&) const { return {}; }
};

PassFlops once(double count) { return {count, count}; }

/// What one layer's attention does with one token beside products and scores.
struct AttentionElements {
  PassFlops norms;
  double rotated_heads = 0;  // of queries and keys
  PassFlops sums;
};

struct AttentionElementCounter {
  int64_t model;

  AttentionElements operator()(const SoftmaxAttentionConfig& attention) const {
    const auto width = static_cast<double>(attention.width_of_head(model)), stream = static_cast<double>(model);
    const auto heads = static_cast<double>(attention.heads), groups = static_cast<double>(attention.key_heads());
    const bool own = !attention.reuse_keys_values;
    AttentionElements elements{.rotated_heads = heads + (own ? groups : 0)};
    elements.norms = qk_norm(attention.qk_norm, heads, width);
    auto& sums = elements.sums;
    if (attention.query_bias) sums += once(heads * width);
    if (attention.output_bias) sums += once(stream);
    if (own) {
      elements.norms += qk_norm(attention.qk_norm, groups, width) + groups * norm_flops(attention.value_norm, width);
      if (attention.key_bias) sums += once(groups * width);
      if (attention.value_bias) sums += once(groups * width);
      sums.backward += attention.keys_as_values ? stream + groups * width : 2 * stream;  // maps that read one x
    } else {
      sums.backward += 2 * groups * width;  // with the gradients of the layer whose keys and values these are
    }
    return elements;
  }

  AttentionElements operator()(const LatentAttentionConfig& attention) const {
    const auto heads = static_cast<double>(attention.heads), stream = static_cast<double>(model);
    const auto latent = static_cast<double>(attention.latent_width(model));
    const auto still = static_cast<double>(attention.still_width(model));
    const auto rotary = static_cast<double>(attention.rotary_width(model));
    const auto value = static_cast<double>(attention.width_of_value(model));
    const bool own = !attention.reuse_keys_values;
    AttentionElements elements{.rotated_heads = heads + (own ? 1 : 0)};
    if (attention.query_rank > 0)
      elements.norms += norm_flops(attention.latent_norm, static_cast<double>(attention.query_rank));
    if (attention.output_bias) elements.sums += once(stream);
    if (own) {
      elements.norms += norm_flops(attention.latent_norm, latent) + heads * norm_flops(attention.value_norm, value);
      elements.sums.backward += stream + heads * rotary;  // maps that read one x, heads that share one rotary key
    } else {
      elements.sums.backward += heads * (still + rotary + value);
    }
    return elements;
  }

 private:
  static PassFlops qk_norm(const QkNormConfig& config, double heads, double width) {
    return std::visit(
        [&]<class Kind>(const Kind& kind) -> PassFlops {
          if constexpr (std::is_same_v<Kind, NoQkNormConfig>) {
            return {};
          } else if constexpr (std::is_same_v<Kind, FullQkNormConfig>) {
            return norm_flops(kind.norm, heads * width);
          } else {
            return heads * norm_flops(kind.norm, width);
          }
        },
        config);
  }
};

/// What a position encoding does with one token beside its part in the scores.
struct PositionElementCounter {
  double rotated_heads;  // of queries and keys
  PositionDims dims;

  PassFlops operator()(const RopePositionConfig& rope) const {
    return once(3 * rotated_heads * static_cast<double>(rotary_channels(rope, dims.rotary_width)));
  }
  PassFlops operator()(const TransformerXlPositionConfig& position) const {
    const auto queries = static_cast<double>(dims.heads * dims.rotary_width);
    const double biases = position.biases ? 2 * queries : 0;
    return {biases + queries, biases + 2 * queries};  // the scores' factor, and the two readers of the queries
  }
  template <class OnEmbeddingOrScores>
  PassFlops operator()(const OnEmbeddingOrScores&) const {
    return {};
  }
};

PassFlops embedding_position(const PositionConfig& config, double width) {
  if (std::holds_alternative<LearnedPositionConfig>(config)) return {width, width};
  if (std::holds_alternative<SinusoidalPositionConfig>(config)) return {width, 0};
  return {};
}

double factor_count(const ScaleConfig& scale, int64_t width) { return scale_factor(scale, width) == 1 ? 0 : 1; }

/// A feed-forward sublayer, one token: its activations, and its biases with the gradients that meet in x.
struct FfnElementCounter {
  int64_t model;

  std::pair<PassFlops, PassFlops> operator()(const GluConfig& ffn) const {
    const auto hidden = static_cast<double>(ffn.resolve(model, GluConfig::default_ratio));
    const auto width = static_cast<double>(model);
    PassFlops sums{0, width};
    if (ffn.bias) sums += once(2 * hidden + width);
    return {hidden * gate_flops(ffn.activation), sums};
  }
  std::pair<PassFlops, PassFlops> operator()(const MlpConfig& ffn) const {
    const auto hidden = static_cast<double>(ffn.resolve(model, MlpConfig::default_ratio));
    const auto biases = ffn.bias ? hidden + static_cast<double>(model) : 0;
    return {hidden * activation_flops(ffn.activation), once(biases)};
  }
};

Activation activation_of(const FfnConfig& config) {
  return std::visit([](const auto& ffn) { return ffn.activation; }, config);
}

/// One layer, one token, without its scores.
ElementFlops layer_elements(const BlockConfig& block, const ModelConfig& model) {
  const auto width = static_cast<double>(model.width), inputs = static_cast<double>(model.layer_embedding_width);
  const auto attention = std::visit(AttentionElementCounter{model.width}, block.attention);
  const auto dims = position_dims(block, {.model = model.width, .context = model.context});
  ElementFlops flops;
  flops.norms = norm_count(block.layout) * norm_flops(block.norm, width) + attention.norms;
  flops.positions = std::visit(PositionElementCounter{attention.rotated_heads, dims}, block.position);
  const auto [activations, ffn_sums] = std::visit(FfnElementCounter{model.width}, block.ffn);
  flops.activations = activations;
  flops.sums = attention.sums + ffn_sums;
  double branches = 2;
  if (inputs > 0) {
    branches = 3;
    flops.norms += norm_flops(block.norm, width);
    flops.activations += inputs * gate_flops(activation_of(block.ffn));
  }
  const double factors = (block.dropout > 0 ? 1 : 0) + (block.residual_scale == 1 ? 0 : 1);
  flops.sums += once(branches * width * (1 + factors));
  if (block.output_factor) flops.sums += PassFlops{width, 3 * width};
  return flops;
}

}  // namespace

PassFlops norm_flops(const NormConfig& norm, double width) { return std::visit(NormCounter{width}, norm); }

PassFlops activation_flops(Activation activation) {
  using enum Activation;
  switch (activation) {
    case kIdentity:
      return {0, 0};
    case kRelu:
      return {1, 1};
    case kReluSquared:
      return {2, 2};  // 2 max(x, 0) dy
    case kSigmoid:
      return {3, 3};  // s (1 - s) dy
    case kSilu:
      return {4, 4};  // (s + y (1 - s)) dy
    case kGelu:
      return {5, 7};  // (Phi + x c exp(-x^2 / 2)) dy
    case kGeluTanh:
      return {9, 10};  // (h + x (1 - t^2) / 2 c (1 + 3 a x^2)) dy with h = (1 + t) / 2
    case kElu:
      return {3, 3};
    case kSelu:
      return {5, 3};
  }
  return {};
}

PassFlops gate_flops(Activation activation) { return activation_flops(activation) + PassFlops{1, 2}; }

PassFlops score_flops(const BlockConfig& block) {
  // p = exp(s - max s) / sum, ds = p (dp - sum dp p), and the scale both ways.
  PassFlops flops{6, 5};
  std::visit(
      [&](const auto& attention) {
        if (attention.softcap > 0) flops += PassFlops{3, 3};  // c tanh(s / c); (1 - t^2) ds
        if (attention.dropout > 0) flops += PassFlops{1, 1};
      },
      block.attention);
  if (std::holds_alternative<AlibiPositionConfig>(block.position)) flops += PassFlops{1, 0};
  if (std::holds_alternative<RelativeBiasPositionConfig>(block.position)) flops += PassFlops{1, 1};
  if (std::holds_alternative<TransformerXlPositionConfig>(block.position)) flops += PassFlops{1, 0};
  return flops;
}

ElementFlops element_flops(const ModelConfig& config, int64_t tokens) {
  const auto model = resolved(config);
  const auto length = static_cast<double>(tokens), width = static_cast<double>(model.width);
  const auto table_width = static_cast<double>(*model.embedding_width);
  const auto vocabulary = static_cast<double>(model.vocabulary);
  const auto layer_inputs = static_cast<double>(model.layers) * static_cast<double>(model.layer_embedding_width);
  ElementFlops flops;
  for (const auto& block : expand_layers(model)) {
    const auto layer = layer_elements(block, model);
    flops.norms += length * layer.norms;
    flops.activations += length * layer.activations;
    flops.positions += length * layer.positions;
    flops.sums += length * layer.sums;
    const auto heads = std::visit([](const auto& attention) { return attention.heads; }, block.attention);
    flops.scores += static_cast<double>(heads) * length * length * score_flops(block);
  }
  flops.norms += length * (norm_flops(model.embedding_norm, width) + norm_flops(*model.final_norm, width));
  flops.positions += length * embedding_position(model.block.position, width);
  flops.embedding.backward = length * (table_width + layer_inputs);
  flops.sums += length * once(factor_count(model.embedding_scale, model.width) * table_width +
                              (model.embedding_dropout > 0 ? width : 0) + (model.head_bias ? vocabulary : 0) +
                              factor_count(model.logit_scale, model.width) * vocabulary);
  if (layer_inputs > 0) {
    const auto channels = static_cast<double>(model.layer_embedding_width);
    flops.norms += length * static_cast<double>(model.layers) * norm_flops(model.block.norm, channels);
    flops.sums += length * PassFlops{4 * layer_inputs, 3 * layer_inputs + width};
  }
  return flops;
}

}  // namespace blockzoo
