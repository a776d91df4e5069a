#include "lab/sizing.h"

#include <algorithm>

#include "core/reader.h"
#include "core/writer.h"

namespace blockzoo {
namespace {

/// What else says the hidden width, and has no effect beside it.
std::vector<std::string> replaced_by(const std::string& key) {
  if (key != "model.block.ffn.hidden") return {};
  return {"model.block.ffn.ratio", "model.block.ffn.multiple_of", "model.block.ffn.rounding"};
}

/// The searched key at a value, for a run whose resolved config is `document`.
Tree value_patch(const Tree& document, const std::string& key, int64_t value) {
  auto patch = nested(key, to_tree(value));
  for (const auto& path : replaced_by(key)) {
    if (const auto* off = at_path(document, path)) patch = overlay(patch, nested(path, *off));
  }
  return patch;
}

}  // namespace

const Tree* at_path(const Tree& tree, std::string_view path) {
  const auto dot = path.find('.');
  const auto* child = tree.find(path.substr(0, dot));
  return child == nullptr || dot == path.npos ? child : at_path(*child, path.substr(dot + 1));
}

Sizing::Sizing(const StudyConfig& config, const Document& file, const UpdateSeconds& update_s, Notes& notes)
    : config_(config),
      file_(file),
      update_s_(update_s),
      notes_(notes),
      key_(config.match.by == MatchBy::kNone ? "" : config.match.key()) {}

void Sizing::refuse_what_has_no_effect(const std::vector<Part>& parts) {
  for (const auto* key : {"seed", "data.seed"}) refuse(key, "seeds sets it for every run", parts);
  if (config_.budget.tokens) {
    refuse(std::string(kSteps), "budget sets it for every run", parts);
    if (const auto* steps = at_path(config_.base, kSteps))
      notes_.add({steps->place, "base.train.steps", "has no effect; budget sets it for every run"});
  }
  if (key_.empty()) return;
  const auto known = known_paths<RunConfig>("");
  if (std::find(known.begin(), known.end(), key_) == known.end()) {
    notes_.add({place_of("match.using"), "match.using", "no such key, '" + key_ + "'" + did_you_mean(key_, known)});
    key_.clear();
    return;
  }
  refuse(key_, "match sets it for every arm", parts);
  for (const auto& path : replaced_by(key_)) refuse(path, "match sets " + key_ + " for every arm", parts);
}

void Sizing::refuse(const std::string& key, const std::string& reason, const std::vector<Part>& parts) {
  for (const auto& part : parts) {
    if (const auto* value = at_path(*part.patch, key))
      notes_.add({value->place, part.path() + ": " + key, "has no effect; " + reason});
  }
  for (const auto& [path, values] : config_.sweep.entries) {
    for (const auto& value : values.items) {
      if (at_path(nested(path, value), key) != nullptr)
        notes_.add({values.place, "sweep." + path, "has no effect; " + reason});
    }
  }
}

RunConfig Sizing::budgeted(const RunConfig& config) const {
  if (!config_.budget.tokens) return config;
  const auto tokens = *config_.budget.tokens, each = tokens_of_step(config);
  const auto place = place_of("budget.tokens");
  if (tokens < each)
    throw ConfigError(Problem{
        place, "budget.tokens",
        "is " + std::to_string(tokens) + ", which gives no step: one step takes " + std::to_string(each) + " tokens"});
  auto steps = to_tree(tokens / each);
  steps.place = place;
  return patched(config, nested(kSteps, steps), file_.folder);
}

double Sizing::measured(const RunConfig& config) const {
  if (config_.match.by != MatchBy::kWallClock) return measure(config, config_.match.by);
  return static_cast<double>(config.train.steps) * update_s_(config);
}

std::optional<int64_t> Sizing::searched_value(const DesignedArm& arm, const PlannedRun& run, const Tree& document) {
  const auto where = arm.path + ": match.using";
  const auto* value = at_path(document, key_);
  if (value == nullptr) {
    auto any = to_tree(int64_t{1});
    any.place = place_of("match.using");
    notes_.patched(where, arm.place, run.config, nested(key_, any));
    return std::nullopt;
  }
  const auto number = value->is_scalar() ? parse_integer(value->text) : std::nullopt;
  bool whole = number.has_value();
  try {
    patched(run.config, nested(key_, to_tree(1.5)), file_.folder);
    whole = false;
  } catch (const ConfigError&) {
  }
  if (!whole) notes_.add({place_of("match.using"), "match.using", key_ + " is not a whole number"});
  return whole ? number : std::nullopt;
}

bool Sizing::match(const DesignedArm& arm, PlannedRun& run, const RunConfig& open, const RunConfig& base) {
  if (key_.empty()) return true;
  const auto document = to_document(resolved(run.config));
  if (document == to_document(resolved(base))) return true;
  const auto start = searched_value(arm, run, document);
  if (!start) return false;
  const auto run_at = [&](int64_t value) {
    return budgeted(patched(open, value_patch(document, key_, value), file_.folder));
  };
  if (!notes_.made(arm.path + ": match", arm.place, [&] { return run_at(*start); })) return false;
  const auto target = measured(base);
  const auto& train = run.config.train;
  const auto size = write_yaml(*document.find("model")) + one_line(to_tree(std::vector{train.steps, train.batch}));
  const auto [entry, fresh] = matches_.try_emplace({size, target});
  if (fresh)
    entry->second = nearest_match(
        run_at, {config_.match.by, key_, target, [&](const RunConfig& config) { return measured(config); }}, *start);
  const auto& found = entry->second;
  const auto problem = complaint(found, config_.match.largest_residue());
  if (!problem.empty()) {
    notes_.add({arm.place, arm.path, problem});
    return false;
  }
  const auto matched = notes_.made(arm.path + ": match", arm.place, [&] { return run_at(found.value); });
  if (!matched) return false;
  run.config = *matched;
  run.match = found;
  return true;
}

}  // namespace blockzoo
