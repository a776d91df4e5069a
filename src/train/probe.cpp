#include "blockzoo/train/probe.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <boost/math/statistics/linear_regression.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "blockzoo/kernels/attention_observer.h"
#include "blockzoo/kernels/cross_entropy.h"
#include "blockzoo/nn/eval_scope.h"
#include "blockzoo/nn/layer_observer.h"

namespace blockzoo {
namespace {

constexpr double kQuiet = 1e-3;  // of the root mean square, as Probe says

/// A mean over values that come in pieces.
struct RunningMean {
  double sum = 0;
  int64_t count = 0;

  void add(const Tensor& values) {
    sum += values.to(at::kDouble).sum().item<double>();
    count += values.numel();
  }
  std::optional<double> mean() const {
    return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
  }
  std::optional<double> root() const { return count > 0 ? std::optional(std::sqrt(*mean())) : std::nullopt; }
};

Tensor squares(const Tensor& x) { return x.to(at::kDouble).square(); }

bool is_often_zero(Activation f) {
  return f == Activation::kRelu || f == Activation::kReluSquared || f == Activation::kIdentity;
}

/// What the forward passes of one probe show of a layer.
struct SeenLayer {
  RunningMean input_squares, output_squares, hidden_squares, entropies;
  std::optional<double> largest_score;
  Tensor largest_hidden;  // [F], magnitudes
  bool exact_zero = true;

  std::optional<double> dead_units() const {
    if (!largest_hidden.defined()) return std::nullopt;
    const double limit = exact_zero ? 0 : kQuiet * *hidden_squares.root();
    return largest_hidden.le(limit).to(at::kDouble).mean().item<double>();
  }
};

class Watch final : public AttentionObserver, public LayerObserver {
 public:
  explicit Watch(size_t layers) : layers_(layers) {}

  const std::vector<SeenLayer>& layers() const { return layers_; }

  void attended(const ObservedAttention& seen) override {
    auto& layer = at(seen.layer);
    const double largest = seen.scores.max().item<double>();
    layer.largest_score = std::max(layer.largest_score.value_or(largest), largest);
    layer.entropies.add(at::special_entr(seen.weights).sum(-1));  // [H, T]
  }

  void passed(int64_t layer, const Tensor& x, const Tensor& y) override {
    at(layer).input_squares.add(squares(x));
    at(layer).output_squares.add(squares(y));
  }

  void hidden_units(int64_t index, Activation f, const Tensor& h) override {
    auto& layer = at(index);
    const auto largest = h.abs().flatten(0, -2).amax(0).to(at::kDouble);
    layer.largest_hidden = layer.largest_hidden.defined() ? at::maximum(layer.largest_hidden, largest) : largest;
    layer.hidden_squares.add(squares(h));
    layer.exact_zero = is_often_zero(f);
  }

 private:
  SeenLayer& at(int64_t layer) { return layers_.at(static_cast<size_t>(layer)); }

  std::vector<SeenLayer> layers_;
};

/// Reads the session's next batch in evaluation mode; says what each layer shows.
std::vector<SeenLayer> read_next_batch(Session& session, Probe& probe) {
  Watch watch(static_cast<size_t>(session.config().model.layers));
  const auto& train = session.config().train;
  const EvalScope eval(*session.model());
  const KernelScope kernels(train.kernels);
  RunningMean losses, log_z;
  const auto part = train.batch / train.accumulation;
  for (int64_t first = 0; first < train.batch; first += part) {
    const AutocastScope autocast(train.precision, session.device());
    const auto batch = session.batches().slice(session.steps_done(), first, part);
    const auto tokens =
        cross_entropy(session.model()(batch.inputs.to(session.device())), batch.targets.to(session.device()));
    losses.add(tokens.losses);
    log_z.add(tokens.log_z);
  }
  probe.loss = *losses.mean();
  probe.mean_log_z = *log_z.mean();
  return watch.layers();
}

/// "embedding" first, then the blocks, then what is behind them.
std::vector<LayerProbe> named_layers(const NextUpdate& update, size_t blocks) {
  std::vector<LayerProbe> layers{{.name = "embedding"}};
  std::vector<LayerProbe> behind;
  for (size_t block = 0; block < blocks; ++block) layers.push_back({.name = "blocks." + std::to_string(block)});
  for (const auto& [name, norm] : update.gradient_norms) {
    auto found = std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.name == name; });
    auto& layer = found != layers.end() ? *found : behind.emplace_back(LayerProbe{.name = name});
    layer.gradient_norm = norm;
    if (const double ratio = update.update_ratios.at(name); std::isfinite(ratio)) layer.update_ratio = ratio;
  }
  layers.insert(layers.end(), behind.begin(), behind.end());
  return layers;
}

bool is_block(const LayerProbe& layer) { return layer.name.starts_with("blocks."); }

/// Slope of ln(value) of the blocks over ln(their number, from 1).
std::optional<double> growth(const std::vector<LayerProbe>& layers, std::optional<double> LayerProbe::*value) {
  std::vector<double> numbers, values;  // logarithms
  for (const auto& layer : layers) {
    if (!is_block(layer)) continue;
    if (!(layer.*value) || !(*(layer.*value) > 0)) return std::nullopt;
    numbers.push_back(std::log(static_cast<double>(numbers.size() + 1)));
    values.push_back(std::log(*(layer.*value)));
  }
  if (numbers.size() < 2) return std::nullopt;
  return boost::math::statistics::simple_ordinary_least_squares(numbers, values).second;
}

}  // namespace

std::optional<double> Probe::activation_growth() const { return growth(layers, &LayerProbe::activation_rms); }

std::optional<double> Probe::gradient_growth() const { return growth(layers, &LayerProbe::gradient_norm); }

std::optional<double> Probe::activation_growth_per_layer() const {
  const auto blocks = std::count_if(layers.begin(), layers.end(), is_block);
  if (blocks == 0) return std::nullopt;
  const auto first = layers.front().activation_rms, last = layers[static_cast<size_t>(blocks)].activation_rms;
  if (!first || !last || !(*first > 0) || !(*last > 0)) return std::nullopt;
  return std::log(*last / *first) / static_cast<double>(blocks);
}

Probe probe(Session& session) {
  const at::NoGradGuard no_grad;
  const auto blocks = static_cast<size_t>(session.config().model.layers);
  Probe result{.step = session.steps_done()};
  const auto seen_layers = read_next_batch(session, result);
  result.layers = named_layers(session.next_update(), blocks);
  result.layers.front().activation_rms = seen_layers.front().input_squares.root();
  for (size_t block = 0; block < blocks; ++block) {
    auto& layer = result.layers[block + 1];
    const auto& seen = seen_layers[block];
    layer.activation_rms = seen.output_squares.root();
    layer.attention_logit_max = seen.largest_score;
    layer.attention_entropy = seen.entropies.mean();
    layer.dead_units = seen.dead_units();
  }
  return result;
}

std::string probe_line(const Probe& probe) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  Json layers = Json::object();
  for (const auto& layer : probe.layers) {
    auto& figures = layers[layer.name] = Json::object();
    for (const auto& [name, member] : kLayerFigures) {
      if (layer.*member) figures[name] = number(*(layer.*member));
    }
  }
  const auto growths = [&] {
    Json json = Json::object();
    if (const auto value = probe.activation_growth()) json["activation_growth"] = *value;
    if (const auto value = probe.activation_growth_per_layer()) json["activation_growth_per_layer"] = *value;
    if (const auto value = probe.gradient_growth()) json["gradient_growth"] = *value;
    return json;
  };
  Json body = {{"loss", number(probe.loss)}, {"mean_log_z", number(probe.mean_log_z)}};
  body.update(growths());
  body["layers"] = std::move(layers);
  return Json{{"step", probe.step}, {"probe", std::move(body)}}.dump();
}

std::optional<Probe> probe_from_line(const std::string& line) {
  const auto json = nlohmann::ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("probe")) return std::nullopt;
  const auto number = [](const auto& value) { return value.is_number() ? value.template get<double>() : std::nan(""); };
  const auto& body = json.at("probe");
  Probe probe{.step = json.at("step"), .loss = number(body.at("loss")), .mean_log_z = number(body.at("mean_log_z"))};
  for (const auto& [name, figures] : body.at("layers").items()) {
    auto& layer = probe.layers.emplace_back(LayerProbe{.name = name});
    for (const auto& [key, member] : kLayerFigures) {
      if (figures.contains(key)) layer.*member = number(figures.at(key));
    }
  }
  return probe;
}

}  // namespace blockzoo
