#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "blockzoo/nn/model_config.h"
#include "support/from_yaml.h"

namespace blockzoo {

/// A model of a covering set, and the values that it was put together from.
struct CoveringModel {
  std::string name;
  ModelConfig config;
};

/// Values of one dimension of choice, each a patch of the model's YAML. `softmax_only` patches are left out beside
/// latent attention, which has no such keys.
struct CoveredChoice {
  std::vector<std::string> values;
  bool softmax_only = false;
};

/// What an ablation may combine. Every kind of every family and every switch that a block or a model has.
inline std::vector<CoveredChoice> covering_factors() {
  std::vector<CoveredChoice> factors;
  const auto kinds = [&](const std::string& key, const std::vector<std::string>& values) {
    CoveredChoice factor;
    for (const auto& value : values) factor.values.push_back("{block: {" + key + ": {" + value + "}}}");
    factors.push_back(factor);
  };
  kinds("attention",
        {"kind: softmax, heads: 4", "kind: softmax, heads: 4, kv_heads: 2, head_width: 8",
         "kind: softmax, heads: 4, kv_heads: 1", "kind: latent, heads: 4, rope_width: 4",
         "kind: latent, heads: 4, query_rank: 8, key_value_rank: 6, rope_width: 4, value_width: 3, output_bias: true"});
  kinds("layout", {"kind: pre_norm", "kind: post_norm", "kind: double_norm", "kind: output_norm", "kind: parallel",
                   "kind: parallel_two_norms"});
  kinds("norm", {"kind: rms_norm", "kind: rms_norm, unit_offset: true", "kind: layer_norm",
                 "kind: layer_norm, gain: false, bias: false", "kind: scale_norm", "kind: dynamic_tanh", "kind: none"});
  kinds("ffn", {"kind: glu", "kind: glu, bias: true, hidden: 24", "kind: mlp, multiple_of: 8, ratio: 2.5",
                "kind: mlp, bias: true"});
  kinds("position",
        {"kind: rope", "kind: rope, pairing: interleaved, rotary_fraction: 0.5", "kind: rope, still_fraction: 0.5",
         "kind: rope, scaling: {kind: yarn, factor: 4.0, original_context: 8}", "kind: none", "kind: learned",
         "kind: sinusoidal", "kind: alibi", "kind: relative_bias, buckets: 8, max_distance: 10", "kind: transformer_xl",
         "kind: transformer_xl, biases: false"});
  CoveredChoice activations;
  for (const auto& [value, name] : names(Activation{}))
    activations.values.push_back("{block: {ffn: {activation: " + std::string(name) + "}}}");
  factors.push_back(activations);
  factors.push_back({{"{}", "{block: {attention: {window: 3}}}"}});
  factors.push_back({{"{}", "{block: {attention: {softcap: 5.0}}}"}});
  factors.push_back({{"{}", "{block: {attention: {qk_norm: {kind: head}}}}",
                      "{block: {attention: {qk_norm: {kind: head_own, norm: {kind: layer_norm}}}}}",
                      "{block: {attention: {qk_norm: {kind: full}}}}"},
                     true});
  factors.push_back(
      {{"{}", "{block: {attention: {query_bias: true, key_bias: true, value_bias: true, output_bias: true}}}"}, true});
  factors.push_back({{"{}", "{block: {attention: {keys_as_values: true, value_bias: false}}}"}, true});
  factors.push_back({{"{}", "{block: {attention: {value_norm: {kind: rms_norm, gain: false}}}}",
                      "{block: {attention: {value_norm: {kind: layer_norm}}}}"}});
  factors.push_back({{"{}", "{block: {output_factor: true}}", "{layer_embedding_width: 5}",
                      "{layer_embedding_width: 6, block: {output_factor: true}}"}});
  factors.push_back(
      {{"{}", "{tied: true, embedding_scale: {kind: sqrt_width}, logit_scale: {kind: inverse_sqrt_width}}",
        "{embedding_width: 8, embedding_norm: {kind: layer_norm}}",
        "{tied: true, embedding_width: 8, head_bias: true}"}});
  factors.push_back({{"{}", "{final_softcap: 10.0, head_bias: true}",
                      "{final_norm: {kind: layer_norm}, logit_scale: {kind: constant, value: 0.5}}"}});
  factors.push_back({{"{}", "{embedding_dropout: 0.1, block: {dropout: 0.1, attention: {dropout: 0.1}}}",
                      "{block: {residual_scale: 0.5}}"}});
  factors.push_back({{"{}", "{init: {matrices: {kind: fan_in, cut_sigmas: 2.0}}}",
                      "{init: {matrices: {kind: glorot}, depth_scaled_outputs: false}}"}});
  factors.push_back({{"{}", "{overrides: [{layers: '1::2', block: {attention: {window: 2}, residual_scale: 0.7}}]}",
                      "{overrides: [{layers: [1], block: {attention: {reuse_keys_values: true}}}]}"}});
  return factors;
}

/// Rows of value numbers in which every pair of values of every two factors occurs; greedy, and the same every time.
inline std::vector<std::vector<size_t>> pairwise_rows(const std::vector<CoveredChoice>& factors) {
  const size_t count = factors.size();
  using Pair = std::array<size_t, 4>;  // factor, value, later factor, value
  std::set<Pair> open;
  for (size_t f = 0; f < count; ++f)
    for (size_t g = f + 1; g < count; ++g)
      for (size_t v = 0; v < factors[f].values.size(); ++v)
        for (size_t w = 0; w < factors[g].values.size(); ++w) open.insert({f, v, g, w});
  const auto pair = [](size_t f, size_t v, size_t g, size_t w) { return f < g ? Pair{f, v, g, w} : Pair{g, w, f, v}; };
  std::vector<std::vector<size_t>> rows;
  while (!open.empty()) {
    const auto seed = *open.begin();
    constexpr size_t unset = SIZE_MAX;
    std::vector<size_t> row(count, unset);
    row[seed[0]] = seed[1];
    row[seed[2]] = seed[3];
    for (size_t f = 0; f < count; ++f) {
      if (row[f] != unset) continue;
      size_t best = 0, best_gain = 0;
      for (size_t turn = 0; turn < factors[f].values.size(); ++turn) {
        const auto v = (turn + rows.size()) % factors[f].values.size();  // ties fall on another value in each row
        size_t gain = 0;
        for (size_t g = 0; g < count; ++g) gain += row[g] != unset && open.count(pair(f, v, g, row[g]));
        if (turn == 0 || gain > best_gain) {
          best = v;
          best_gain = gain;
        }
      }
      row[f] = best;
    }
    for (size_t f = 0; f < count; ++f)
      for (size_t g = f + 1; g < count; ++g) open.erase({f, row[f], g, row[g]});
    rows.push_back(row);
  }
  return rows;
}

/// Small models in which every two values of the zoo meet at least once.
inline std::vector<CoveringModel> covering_models() {
  const auto factors = covering_factors();
  std::vector<CoveringModel> models;
  for (const auto& row : pairwise_rows(factors)) {
    auto tree = parse_yaml("{vocabulary: 17, width: 16, layers: 2, context: 12}", "covering");
    std::string name;
    const bool latent = factors[0].values[row[0]].find("latent") != std::string::npos;
    for (size_t f = 0; f < factors.size(); ++f) {
      const auto& value = factors[f].values[row[f]];
      if ((factors[f].softmax_only && latent) || value == "{}") continue;
      tree = overlay(tree, parse_yaml(value, "covering"));
      name += (name.empty() ? "" : " ") + value;
    }
    models.push_back({name, read_config<ModelConfig>(tree)});
  }
  return models;
}

}  // namespace blockzoo
