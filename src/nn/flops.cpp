#include "blockzoo/nn/flops.h"

namespace blockzoo {
namespace {

/// Multiply-adds of one attention sublayer.
struct AttentionProducts {
  double query_key_value;  // a token
  double output;           // a token
  double scores;           // a pair
  double values;           // a pair
};

struct AttentionCounter {
  int64_t model;

  AttentionProducts operator()(const SoftmaxAttentionConfig& attention) const {
    const auto width = static_cast<double>(model);
    const auto queries = static_cast<double>(attention.heads) * static_cast<double>(attention.width_of_head(model));
    const auto keys = static_cast<double>(attention.key_heads()) * static_cast<double>(attention.width_of_head(model));
    const double matrices = attention.reuse_keys_values ? 0 : attention.keys_as_values ? 1 : 2;
    return {.query_key_value = width * (queries + matrices * keys),
            .output = queries * width,
            .scores = queries,
            .values = queries};
  }

  AttentionProducts operator()(const LatentAttentionConfig& attention) const {
    const auto width = static_cast<double>(model);
    const auto heads = static_cast<double>(attention.heads);
    const auto rank = static_cast<double>(attention.query_rank);
    const auto latent = static_cast<double>(attention.latent_width(model));
    const auto still = static_cast<double>(attention.still_width(model));
    const auto rotary = static_cast<double>(attention.rotary_width(model));
    const auto value = static_cast<double>(attention.width_of_value(model));
    const auto queries = heads * (still + rotary);
    const auto query = attention.query_rank == 0 ? width * queries : width * rank + rank * queries;
    const auto own = width * (latent + rotary) + latent * heads * (still + value);
    const auto key_value = attention.reuse_keys_values ? 0 : own;
    return {.query_key_value = query + key_value,
            .output = heads * value * width,
            .scores = queries,
            .values = heads * value};
  }
};

/// Matrices between the stream and the hidden vector.
double matrices(const GluConfig&) { return 3; }
double matrices(const MlpConfig&) { return 2; }

/// Multiply-adds of one feed-forward sublayer, a token.
double ffn_products(const FfnConfig& config, int64_t model) {
  return std::visit(
      [&]<class Kind>(const Kind& ffn) {
        const auto hidden = static_cast<double>(ffn.resolve(model, Kind::default_ratio));
        return matrices(ffn) * static_cast<double>(model) * hidden;
      },
      config);
}

/// Multiply-adds of scores from relative positions: for each of `length` distances, and for each pair.
double relative_products(const BlockConfig& block, int64_t model, double length, double pairs) {
  if (!std::holds_alternative<TransformerXlPositionConfig>(block.position)) return 0;
  const auto dims = position_dims(block, {.model = model});
  const auto channels = static_cast<double>(dims.heads) * static_cast<double>(dims.rotary_width);
  return length * static_cast<double>(model) * channels + pairs * channels;
}

/// Pairs of a query and a key in one sequence; a window of 0 hides nothing that the causal mask does not.
double pair_count(double tokens, double window, AttentionPairs pairs) {
  if (pairs == AttentionPairs::kAll) return tokens * tokens;
  if (window == 0 || window >= tokens) return tokens * (tokens + 1) / 2;
  return window * (window + 1) / 2 + (tokens - window) * window;
}

double window_of(const AttentionConfig& config) {
  return std::visit([](const auto& attention) { return static_cast<double>(attention.window); }, config);
}

}  // namespace

std::array<std::pair<std::string_view, double>, 8> Flops::parts() const {
  return {{{"query_key_value", query_key_value},
           {"attention_output", attention_output},
           {"scores", scores},
           {"values", values},
           {"ffn", ffn},
           {"layer_inputs", layer_inputs},
           {"table_projections", table_projections},
           {"head", head}}};
}

double Flops::total() const {
  double sum = 0;
  for (const auto& part : parts()) sum += part.second;
  return sum;
}

Flops forward_flops(const ModelConfig& config, int64_t tokens, AttentionPairs pairs) {
  const auto model = resolved(config);
  const auto length = static_cast<double>(tokens);
  Flops flops;
  for (const auto& block : expand_layers(model)) {
    const auto products = std::visit(AttentionCounter{model.width}, block.attention);
    const auto seen = pair_count(length, window_of(block.attention), pairs);
    flops.query_key_value += 2 * length * products.query_key_value;
    flops.attention_output += 2 * length * products.output;
    flops.scores += 2 * (seen * products.scores + relative_products(block, model.width, length, seen));
    flops.values += 2 * seen * products.values;
    flops.ffn += 2 * length * ffn_products(block.ffn, model.width);
  }
  const auto inputs = static_cast<double>(model.layer_embedding_width) * static_cast<double>(model.layers);
  flops.layer_inputs = 2 * length * 3 * static_cast<double>(model.width) * inputs;
  const auto width = static_cast<double>(model.width), table_width = static_cast<double>(*model.embedding_width);
  if (table_width != width) flops.table_projections = 2 * length * 2 * table_width * width;
  flops.head = 2 * length * table_width * static_cast<double>(model.vocabulary);
  return flops;
}

double training_flops(const ModelConfig& config, int64_t sequences) {
  return 3 * static_cast<double>(sequences) * forward_flops(config, config.context).total();
}

}  // namespace blockzoo
