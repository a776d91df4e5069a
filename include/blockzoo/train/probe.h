#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blockzoo/train/session.h"

namespace blockzoo {

/// What one layer of a probe shows. Absent: the layer has no such thing.
struct LayerProbe {
  std::string name;                           // "embedding", "blocks.0", ..., "final_norm", "head"
  std::optional<double> activation_rms;       // sqrt(mean(x^2)) of the stream behind the layer, all tokens and channels
  std::optional<double> gradient_norm;        // Euclidean, all parameters of the layer together, before clipping
  std::optional<double> update_ratio;         // |change of w| / |w| of the next update, all parameters together
  std::optional<double> attention_logit_max;  // largest score that a softmax reads, after soft cap and bias
  std::optional<double> attention_entropy;    // -sum p log p, nats, mean over sequences, heads and queries
  std::optional<double> dead_units;           // share of the feed-forward sublayer's hidden units
};

/// The figures by the names that records have for them.
inline constexpr std::array<std::pair<const char*, std::optional<double> LayerProbe::*>, 6> kLayerFigures = {
    {{"activation_rms", &LayerProbe::activation_rms},
     {"gradient_norm", &LayerProbe::gradient_norm},
     {"update_ratio", &LayerProbe::update_ratio},
     {"attention_logit_max", &LayerProbe::attention_logit_max},
     {"attention_entropy", &LayerProbe::attention_entropy},
     {"dead_units", &LayerProbe::dead_units}}};

/// A look inside between two updates: the batch that comes next, read in evaluation mode (no dropout) for what is seen
/// in a forward pass, and the update that it would give.
///   embedding   its activation_rms is that of what the first block reads
///   dead units  those whose value, f(W_up x) or f(W_gate x) * W_up x, is zero for every token of the batch, where f is
///               relu, relu_squared or identity; other functions are never quite zero, and a unit counts when it stays
///               within 1/1000 of the layer's root mean square
struct Probe {
  int64_t step = 0;       // updates done before
  double loss = 0;        // of the batch, nats per token
  double mean_log_z = 0;  // log Z = logsumexp(logits), nats, mean over the batch's tokens
  std::vector<LayerProbe> layers;

  /// Slope of the least-squares line through (ln l, ln activation_rms of block l), l = 1 ... L: the stream grows like l
  /// to this power. 1/2 for blocks that add independent outputs of one size, 0 where every block ends in a norm. Absent
  /// for fewer than two blocks, or a figure that is not above zero.
  std::optional<double> activation_growth() const;
  /// The same of the blocks' gradient norms: above zero, later layers have the larger ones.
  std::optional<double> gradient_growth() const;
  /// ln(activation_rms of the last block / of the embedding) / L (OLMo 2, arXiv:2501.00656). Absent as above.
  std::optional<double> activation_growth_per_layer() const;
};

/// Looks inside; the session is put back bit for bit, gradients apart.
/// Observed attention goes by the formula, one sequence at a time, whatever kernels the session has.
Probe probe(Session& session);

/// One line of metrics.jsonl: {"step": ..., "probe": {...}}. Numbers that are not finite are null.
std::string probe_line(const Probe& probe);
/// Absent when the line holds something else. Errors: std::exception when it is no probe of this form.
std::optional<Probe> probe_from_line(const std::string& line);

}  // namespace blockzoo
