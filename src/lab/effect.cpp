#include "blockzoo/lab/effect.h"

#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "blockzoo/core/config_error.h"
#include "blockzoo/core/hash.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/nn/flops.h"
#include "blockzoo/train/session.h"
#include "core/writer.h"
#include "lab/points.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;
using Tensors = std::map<std::string, Tensor>;

constexpr int64_t kSequences = 4;  // that logits are compared on

/// What a run is at its start and after one update.
struct Beginning {
  Tensors start;
  Tensor logits;
  StepResult first;
  Tensors updated;
};

Tensors copy_of(const Model& model) {
  Tensors copy;
  for (const auto& parameter : model->named_parameters())
    copy[parameter.key()] = parameter.value().detach().to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
  return copy;
}

Tensor logits_of(Session& session, const Tensor& tokens) {
  const at::NoGradGuard no_grad;
  at::manual_seed(seed_for(static_cast<uint64_t>(session.config().seed), "effect", 0));  // dropout is to be seen too
  return session.model()(tokens.to(session.device())).to(at::kCPU, at::kFloat);
}

/// The first tokens of the base's training data; shorter where an arm's context is.
Tensor tokens_of(const Session& base) {
  const auto& config = base.config();
  const Batches batches(base.corpus().train, {.windows = kSequences, .context = config.model.context},
                        static_cast<uint64_t>(config.data.seed));
  return batches.batch(0).inputs;
}

Beginning begin(Session& session, const Tensor& tokens) {
  const auto context = std::min(tokens.size(1), session.config().model.context);
  Beginning result{.start = copy_of(session.model()), .logits = logits_of(session, tokens.slice(1, 0, context))};
  result.first = session.advance();
  result.updated = copy_of(session.model());
  return result;
}

bool same(const Tensors& a, const Tensors& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && x.second.sizes() == y.second.sizes() && at::equal(x.second, y.second);
         });
}

Effect between(const Beginning& base, const Beginning& arm) {
  Effect effect;
  for (const auto& [name, value] : arm.start) {
    const auto found = base.start.find(name);
    if (found == base.start.end() || found->second.sizes() != value.sizes()) {
      effect.added += value.numel();
    } else if (!at::equal(found->second, value)) {
      effect.redrawn += value.numel();
    }
  }
  for (const auto& [name, value] : base.start) {
    const auto found = arm.start.find(name);
    if (found == arm.start.end() || found->second.sizes() != value.sizes()) effect.dropped += value.numel();
  }
  if (base.logits.sizes() == arm.logits.sizes()) effect.logits = (base.logits - arm.logits).abs().max().item<double>();
  effect.first_update = base.first.loss != arm.first.loss || base.first.gradient_norm != arm.first.gradient_norm ||
                        !same(base.updated, arm.updated);
  return effect;
}

const PlannedRun& first_run_of(const Study& study, const std::string& arm) {
  return *std::find_if(study.runs.begin(), study.runs.end(), [&](const auto& run) { return run.arm == arm; });
}

/// False when it threw: a run that cannot begin says so itself, in its record, when its turn comes.
bool attempted(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

double flops_of_step(const RunConfig& config) { return training_flops(config.model, config.train.batch); }

std::string model_text(const RunConfig& config) { return write_yaml(to_tree(resolved(config).model)); }

}  // namespace

bool Effect::acts() const {
  return added != 0 || dropped != 0 || redrawn != 0 || first_update || !logits || *logits != 0;
}

std::string Effect::in_words() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (added != 0) add(fmt::format("{} parameters that the base lacks", added));
  if (dropped != 0) add(fmt::format("{} of the base's parameters gone", dropped));
  if (redrawn != 0) add(fmt::format("{} shared parameters start at other values", redrawn));
  if (!logits) add("logits of another shape");
  if (logits && *logits != 0) add(fmt::format("logits at step 0 differ by up to {:.3g}", *logits));
  if (first_update && text.empty()) add("the first update differs");
  if (text.empty()) text = "nothing differs up to the first update";
  if (flops && *flops != 1) add(fmt::format("a training step takes {:.4g} times the base's FLOPs", *flops));
  return text;
}

std::vector<Effect> effects_of(const Study& study) {
  std::vector<Effect> effects;
  const auto base = base_arm(study);
  if (base.empty()) return effects;
  Tensor tokens;
  Beginning reference;
  const auto& base_config = first_run_of(study, base).config;
  const bool known = attempted([&] {
    Session session(base_config);
    tokens = tokens_of(session);
    reference = begin(session, tokens);
  });
  if (!known) return effects;
  std::string last = base;
  for (const auto& run : study.runs) {
    if (run.arm == base || run.arm == last) continue;
    last = run.arm;
    attempted([&] {
      Session session(run.config);
      effects.push_back(between(reference, begin(session, tokens)));
      effects.back().arm = run.arm;
      effects.back().flops = flops_of_step(run.config) / flops_of_step(base_config);
      effects.back().model = model_text(run.config) != model_text(base_config);
    });
  }
  return effects;
}

void refuse_without_effect(const std::vector<Effect>& effects, const std::string& file) {
  std::vector<Problem> problems;
  for (const auto& effect : effects) {
    if (!effect.model || effect.acts()) continue;
    problems.push_back({{file, 0, 0},
                        "arms." + effect.arm,
                        "changes nothing: parameters, logits and the first update equal the base's to the last digit"});
  }
  if (!problems.empty()) throw ConfigError(std::move(problems));
}

void write_effects(const std::filesystem::path& folder, const std::vector<Effect>& effects) {
  auto json = Json::array();
  for (const auto& effect : effects) {
    json.push_back({{"arm", effect.arm},
                    {"model", effect.model},
                    {"added", effect.added},
                    {"dropped", effect.dropped},
                    {"redrawn", effect.redrawn},
                    {"logits", effect.logits ? Json(*effect.logits) : Json(nullptr)},
                    {"first_update", effect.first_update},
                    {"flops", effect.flops ? Json(*effect.flops) : Json(nullptr)}});
  }
  write_file(folder / "effects.json", json.dump(2) + "\n");
}

std::vector<Effect> read_effects(const std::filesystem::path& folder) {
  std::vector<Effect> effects;
  if (!std::filesystem::exists(folder / "effects.json")) return effects;
  for (const auto& json : Json::parse(read_file(folder / "effects.json"))) {
    Effect effect{.arm = json.at("arm"),
                  .model = json.at("model"),
                  .added = json.at("added"),
                  .dropped = json.at("dropped"),
                  .redrawn = json.at("redrawn"),
                  .logits = std::nullopt,
                  .first_update = json.at("first_update"),
                  .flops = std::nullopt};
    if (json.at("logits").is_number()) effect.logits = json.at("logits").get<double>();
    if (json.contains("flops") && json.at("flops").is_number()) effect.flops = json.at("flops").get<double>();
    effects.push_back(std::move(effect));
  }
  return effects;
}

}  // namespace blockzoo
