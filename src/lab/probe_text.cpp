#include "blockzoo/lab/probe_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/checkpoint.h"
#include "blockzoo/hub/weights.h"

namespace blockzoo {
namespace {

constexpr size_t kShownProbes = 5;

std::string figure(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.1f} %", 100 * *share) : "-"; }

std::string layer_table(const std::vector<LayerProbe>& layers) {
  std::vector<std::vector<std::string>> lines{
      {"layer", "activation rms", "gradient norm", "update ratio", "largest logit", "entropy, nats", "dead units"}};
  for (const auto& layer : layers)
    lines.push_back({layer.name, figure(layer.activation_rms), figure(layer.gradient_norm), figure(layer.update_ratio),
                     figure(layer.attention_logit_max), figure(layer.attention_entropy), percent(layer.dead_units)});
  std::string text;
  for (const auto& line : lines) {
    std::string row = fmt::format("  {:<18}", line[0]);
    for (size_t i = 1; i < line.size(); ++i) row += fmt::format("  {:>14}", line[i]);
    text += row + "\n";
  }
  return text;
}

std::string growth_words(const Probe& probe) {
  std::string text;
  if (const auto exponent = probe.activation_growth())
    text +=
        fmt::format("  activations grow as l^{:.3f} over blocks l = 1 ... L: slope of ln(rms) over ln(l)\n", *exponent);
  if (const auto rate = probe.activation_growth_per_layer())
    text += fmt::format("  and by {:+.3f} nats a block from the embedding on: ln(rms_L / rms_0) / L\n", *rate);
  if (const auto exponent = probe.gradient_growth())
    text += fmt::format("  gradient norms go as l^{:.3f}\n", *exponent);
  return text;
}

std::string one_probe(const Probe& probe) {
  const auto when = probe.step == 0 ? "before the first update" : fmt::format("after step {}", probe.step);
  return fmt::format("{}: loss {:.4f}, mean log Z {:.4f} nats, on the batch of step {}\n", when, probe.loss,
                     probe.mean_log_z, probe.step + 1) +
         layer_table(probe.layers) + growth_words(probe);
}

}  // namespace

std::vector<Probe> recorded_probes(const std::filesystem::path& run_folder) {
  std::vector<Probe> probes;
  const auto path = run_folder / "metrics.jsonl";
  if (!std::filesystem::exists(path)) return probes;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    auto probe = probe_from_line(line);
    if (!probe) continue;
    std::erase_if(probes, [&](const Probe& earlier) { return earlier.step >= probe->step; });
    probes.push_back(std::move(*probe));
  }
  return probes;
}

std::vector<Probe> probe_checkpoints(const std::filesystem::path& run_folder, const RunConfig& config) {
  Session session(config);
  std::vector<Probe> probes{probe(session)};
  auto checkpoints = list_checkpoints(run_folder / "checkpoints");
  std::reverse(checkpoints.begin(), checkpoints.end());
  for (const auto& path : checkpoints) {
    const auto checkpoint = load_checkpoint(path);
    load_weights(*session.model(), checkpoint.weights, path.string());
    session.optimizer().load_state(checkpoint.optimizer);
    session.set_steps_done(checkpoint.step);
    probes.push_back(probe(session));
  }
  return probes;
}

std::string probe_text(const std::vector<Probe>& probes) {
  std::string text;
  const auto shown = std::min(kShownProbes, probes.size());
  for (size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : "\n") + one_probe(probes[shown == 1 ? 0 : i * (probes.size() - 1) / (shown - 1)]);
  if (shown < probes.size())
    text += fmt::format("\n{} of {} probes are shown; --json has all of them\n", shown, probes.size());
  return text;
}

std::string probe_json(const std::vector<Probe>& probes) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const auto& probe : probes) {
    const auto line = Json::parse(probe_line(probe));
    Json entry = {{"step", line.at("step")}};
    entry.update(line.at("probe"));
    list.push_back(std::move(entry));
  }
  return Json{{"probes", std::move(list)}}.dump(2) + "\n";
}

}  // namespace blockzoo
