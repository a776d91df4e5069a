#include "lab/report_probes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "lab/report_curves.h"

namespace blockzoo {
namespace {

using FigureOfProbe = std::function<std::optional<double>(const Probe&)>;

/// Means over the seeds at each step.
nlohmann::ordered_json means_at(const std::set<int64_t>& steps, const std::vector<std::vector<Probe>>& seeds,
                                const FigureOfProbe& figure) {
  auto list = nlohmann::ordered_json::array();
  for (const auto step : steps) {
    double sum = 0;
    int count = 0;
    for (const auto& probes : seeds) {
      for (const auto& probe : probes) {
        const auto value = probe.step == step ? figure(probe) : std::nullopt;
        if (!value || !std::isfinite(*value)) continue;
        sum += *value;
        ++count;
      }
    }
    list.push_back(number_or_null(count > 0 ? sum / count : std::nan("")));
  }
  return list;
}

FigureOfProbe figure_of_layer(const std::string& layer, std::optional<double> LayerProbe::*figure) {
  return [layer, figure](const Probe& probe) -> std::optional<double> {
    for (const auto& one : probe.layers) {
      if (one.name == layer) return one.*figure;
    }
    return std::nullopt;
  };
}

}  // namespace

nlohmann::ordered_json probes_of(const std::vector<std::vector<Probe>>& seeds) {
  std::set<int64_t> steps;
  std::vector<std::string> layers;
  for (const auto& probes : seeds) {
    for (const auto& probe : probes) {
      steps.insert(probe.step);
      for (const auto& layer : probe.layers) {
        if (std::find(layers.begin(), layers.end(), layer.name) == layers.end()) layers.push_back(layer.name);
      }
    }
  }
  nlohmann::ordered_json json = {
      {"steps", steps},
      {"mean_log_z", means_at(steps, seeds, [](const Probe& probe) { return std::optional(probe.mean_log_z); })},
      {"activation_growth", means_at(steps, seeds, std::mem_fn(&Probe::activation_growth))},
      {"gradient_growth", means_at(steps, seeds, std::mem_fn(&Probe::gradient_growth))},
      {"layers", nlohmann::ordered_json::object()}};
  for (const auto& layer : layers) {
    auto& figures = json["layers"][layer];
    for (const auto& [name, member] : kLayerFigures)
      figures[name] = means_at(steps, seeds, figure_of_layer(layer, member));
  }
  return json;
}

}  // namespace blockzoo
