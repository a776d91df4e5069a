#include "blockzoo/lab/study.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "blockzoo/lab/studied_keys.h"
#include "core/document.h"
#include "core/reader.h"
#include "core/writer.h"
#include "lab/design.h"
#include "lab/sweep.h"

namespace blockzoo {
namespace {

constexpr std::string_view kSteps = "train.steps";
constexpr int64_t kOpenSteps = int64_t{1} << 40;

/// The value at a dotted path, if there is one.
const Tree* at_path(const Tree& tree, std::string_view path) {
  const auto dot = path.find('.');
  const auto* child = tree.find(path.substr(0, dot));
  return child == nullptr || dot == path.npos ? child : at_path(*child, path.substr(dot + 1));
}

/// Until a budget is shared out any warm-up fits.
Tree with_open_steps(Tree base) {
  const auto* train = base.find("train");
  if (train == nullptr || train->is_map()) base["train"]["steps"] = to_tree(kOpenSteps);
  return base;
}

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

Tree seed_patch(int64_t seed) {
  Tree patch = Tree::map();
  patch["seed"] = to_tree(seed);
  patch["data"]["seed"] = to_tree(seed);
  return patch;
}

class Planner {
 public:
  /// The study's base has open steps when there is a budget.
  Planner(const StudyConfig& config, const Document& file, Study& study)
      : config_(config),
        file_(file),
        folder_(file.folder),
        plain_base_(study.base),
        open_base_(study.base),
        design_(design_of(config, file.tree, problems_)),
        key_(config.match.by == MatchBy::kNone ? "" : config.match.key()),
        study_(study) {}

  void plan() {
    const auto points = grid(config_.sweep, problems_);
    refuse_what_has_no_effect();
    const auto reference = made(design_.reference);
    if (!reference) throw ConfigError(std::move(problems_));
    open_base_ = *reference;
    const auto base = made_or_noted("base", place_of("budget.tokens"), [&] { return budgeted(open_base_); });
    if (!base) throw ConfigError(std::move(problems_));
    study_.base = *base;
    study_.factors = design_.factors;
    for (const auto& [arm, config] : arms()) {
      for (const auto& point : points) add_runs(arm, config, point);
    }
    check_hypothesis();
    check_folders();
    if (!problems_.empty()) throw ConfigError(std::move(problems_));
  }

 private:
  struct Arm {
    DesignedArm design;
    RunConfig config;
  };

  /// The base with the arm's parts over it. The parts are put together first: half of them need not be sound.
  std::optional<RunConfig> made(const DesignedArm& arm) {
    Tree patch = Tree::map();
    for (const auto& part : arm.parts) {
      if (part.patch->kind != Tree::Kind::kNull) patch = overlay(patch, *part.patch);
    }
    const auto config = patched_or_noted(arm.path, arm.place, plain_base_, patch);
    if (config) require_named(plain_base_, *config, patch, arm.path);
    return config;
  }

  /// The arms that are sound, and before them what they are held against where none of them is it.
  std::vector<Arm> arms() {
    std::vector<Arm> found;
    std::map<std::string, std::string> arm_of_text;
    const auto text_of = [](const RunConfig& config) { return write_yaml(to_document(resolved(config))); };
    const auto& reference = design_.reference;
    if (!config_.arms.is_map()) {
      arm_of_text[text_of(open_base_)] = reference.name;
      found.push_back({reference, open_base_});
    }
    for (const auto& arm : design_.arms) {
      const auto config = made(arm);
      if (!config) continue;
      const auto [other, fresh] = arm_of_text.try_emplace(text_of(*config), arm.name);
      if (!fresh)
        problems_.push_back(
            {arm.place, arm.path, "is the same as arm " + other->second + "; it changes nothing that the model uses"});
      found.push_back({arm, *config});
    }
    const bool base_is_there = arm_of_text.count(text_of(open_base_)) > 0;
    for (const auto& arm : design_.arms) {
      if (arm.name == reference.name && !(base_is_there && config_.arms.is_map()))
        note({arm.place, arm.path, "is not the base; the name is kept for the base itself"});
    }
    if (!base_is_there) found.insert(found.begin(), {reference, open_base_});
    return found;
  }

  void check_hypothesis() {
    if (!config_.hypothesis.stated()) return;
    std::vector<std::string> names;
    for (const auto& run : study_.runs) {
      if (names.empty() || names.back() != run.arm) names.push_back(run.arm);
    }
    const auto check = [&](const char* key, const std::string& name) {
      if (std::find(names.begin(), names.end(), name) != names.end()) return;
      const auto path = std::string("hypothesis.") + key;
      note({place_of(path), path, "no arm '" + name + "'" + did_you_mean(name, names)});
    };
    if (!problems_.empty()) return;  // arms that are not sound are not among the names
    check("arm", config_.hypothesis.arm);
    check("better_than", config_.hypothesis.better_than);
  }

  Place place_of(std::string_view path) const { return file_.tree.deepest(path).place; }

  /// Once, even where it comes up in several arms.
  void note(Problem problem) {
    auto known = problem;
    if (known.place.line > 0) known.path.clear();
    if (seen_.insert(to_string(known)).second) problems_.push_back(std::move(problem));
  }

  /// The problems of the config that `make` makes are noted with `where` before their paths; then there is none.
  std::optional<RunConfig> made_or_noted(const std::string& where, const Place& place,
                                         const std::function<RunConfig()>& make) {
    try {
      return make();
    } catch (const ConfigError& error) {
      for (auto problem : error.problems()) {
        if (problem.place.line == 0) problem.place = place;
        problem.path = where + (problem.path.empty() ? "" : ": " + problem.path);
        note(std::move(problem));
      }
      return std::nullopt;
    }
  }

  std::optional<RunConfig> patched_or_noted(const std::string& where, const Place& place, const RunConfig& config,
                                            const Tree& patch) {
    return made_or_noted(where, place, [&] { return patched(config, patch, folder_); });
  }

  /// Keys that budget or match set for every run must not be set by an arm or the sweep as well.
  void refuse_what_has_no_effect() {
    if (config_.budget.tokens) {
      refuse(std::string(kSteps), "budget sets it for every run");
      if (const auto* steps = at_path(config_.base, kSteps))
        note({steps->place, "base.train.steps", "has no effect; budget sets it for every run"});
    }
    if (key_.empty()) return;
    const auto known = known_paths<RunConfig>("");
    if (std::find(known.begin(), known.end(), key_) == known.end()) {
      note({place_of("match.using"), "match.using", "no such key, '" + key_ + "'" + did_you_mean(key_, known)});
      key_.clear();
      return;
    }
    refuse(key_, "match sets it for every arm");
    for (const auto& path : replaced_by(key_)) refuse(path, "match sets " + key_ + " for every arm");
  }

  void refuse(const std::string& key, const std::string& reason) {
    for (const auto& part : design_.parts) {
      if (const auto* value = at_path(*part.patch, key))
        note({value->place, part.path() + ": " + key, "has no effect; " + reason});
    }
    for (const auto& [path, values] : config_.sweep.entries) {
      for (const auto& value : values.items) {
        if (at_path(nested(path, value), key) != nullptr)
          note({values.place, "sweep." + path, "has no effect; " + reason});
      }
    }
  }

  /// The config with the steps that the budget gives it. Errors: ConfigError.
  RunConfig budgeted(const RunConfig& config) const {
    if (!config_.budget.tokens) return config;
    const auto tokens = *config_.budget.tokens, each = tokens_of_step(config);
    const auto place = place_of("budget.tokens");
    if (tokens < each)
      throw ConfigError(Problem{place, "budget.tokens",
                                "is " + std::to_string(tokens) + ", which gives no step: one step takes " +
                                    std::to_string(each) + " tokens"});
    auto steps = to_tree(tokens / each);
    steps.place = place;
    return patched(config, nested(kSteps, steps), folder_);
  }

  /// What the runs at a point are matched with.
  RunConfig base_at(const SweepPoint& point) const {
    try {
      auto config = open_base_;
      for (const auto& [path, value] : point) config = patched(config, nested(path, value), folder_);
      return budgeted(config);
    } catch (const ConfigError&) {  // the base has no such key
      return study_.base;
    }
  }

  /// The value of the searched key, which must be a whole number.
  std::optional<int64_t> searched_value(const DesignedArm& arm, const PlannedRun& run, const Tree& document) {
    const auto where = arm.path + ": match.using";
    const auto* value = at_path(document, key_);
    if (value == nullptr) {
      auto any = to_tree(int64_t{1});
      any.place = place_of("match.using");
      patched_or_noted(where, arm.place, run.config, nested(key_, any));
      return std::nullopt;
    }
    const auto number = value->is_scalar() ? parse_integer(value->text) : std::nullopt;
    bool whole = number.has_value();
    try {
      patched(run.config, nested(key_, to_tree(1.5)), folder_);
      whole = false;
    } catch (const ConfigError&) {
    }
    if (!whole) note({place_of("match.using"), "match.using", key_ + " is not a whole number"});
    return whole ? number : std::nullopt;
  }

  /// Gives the run the value of the searched key that makes it as large as the base; false when there is none.
  /// `swept` is the run before the budget.
  bool match(const DesignedArm& arm, PlannedRun& run, const RunConfig& swept, const SweepPoint& point) {
    const auto base = base_at(point);
    const auto document = to_document(resolved(run.config));
    if (document == to_document(resolved(base))) return true;
    const auto start = searched_value(arm, run, document);
    if (!start) return false;
    const auto run_at = [&](int64_t value) {
      return budgeted(patched(swept, value_patch(document, key_, value), folder_));
    };
    if (!made_or_noted(arm.path + ": match", arm.place, [&] { return run_at(*start); })) return false;
    const auto target = measure(base, config_.match.by);
    const auto& train = run.config.train;
    const auto size = write_yaml(*document.find("model")) + one_line(to_tree(std::vector{train.steps, train.batch}));
    const auto [entry, fresh] = matches_.try_emplace({size, target});
    if (fresh) entry->second = nearest_match(run_at, config_.match.by, key_, *start, target);
    const auto& found = entry->second;
    const auto problem = complaint(found, config_.match.largest_residue());
    if (!problem.empty()) {
      note({arm.place, arm.path, problem});
      return false;
    }
    const auto matched = made_or_noted(arm.path + ": match", arm.place, [&] { return run_at(found.value); });
    if (!matched) return false;
    run.config = *matched;
    run.match = found;
    return true;
  }

  void add_runs(const DesignedArm& arm, const RunConfig& config, const SweepPoint& point) {
    PlannedRun run{.arm = arm.name, .sweep = {}, .seed = 0, .folder = arm.name, .config = config, .differences = {}};
    std::string label;
    for (const auto& [path, value] : point) {
      const auto swept = patched_or_noted("sweep." + path, value.place, run.config, nested(path, value));
      if (!swept) return;
      run.config = *swept;
      const auto& text = value.is_scalar() ? value.text : one_line(value);
      run.sweep.push_back({path, text});
      label += (label.empty() ? "" : ",") + as_file_name(last_part(path) + "=" + text);
    }
    if (!label.empty()) run.folder /= label;
    const auto swept = run.config;
    const auto whole = made_or_noted(arm.path, arm.place, [&] { return budgeted(swept); });
    if (!whole) return;
    run.config = *whole;
    if (!key_.empty() && !match(arm, run, swept, point)) return;
    run.differences = differences(to_document(resolved(study_.base)), to_document(resolved(run.config)));
    for (const auto seed : config_.seeds) {
      auto seeded = run;
      seeded.seed = seed;
      seeded.folder /= "seed" + std::to_string(seed);
      seeded.config = patched(run.config, seed_patch(seed), folder_);
      study_.runs.push_back(std::move(seeded));
    }
  }

  void check_folders() {
    std::set<std::filesystem::path> folders;
    for (const auto& run : study_.runs) {
      if (!folders.insert(run.folder).second)
        problems_.push_back({config_.sweep.place, "", "two runs are the same: " + run.title()});
    }
  }

  const StudyConfig& config_;
  const Document& file_;
  const std::filesystem::path folder_;
  const RunConfig plain_base_;  // what parts are laid over
  RunConfig open_base_;         // what arms are held against, before the budget
  std::vector<Problem> problems_;
  const Design design_;
  std::string key_;  // that match searches; empty: none
  Study& study_;
  std::map<std::pair<std::string, double>, Match> matches_;  // by what decides them; most sweeps change no size
  std::set<std::string> seen_;
};

}  // namespace

std::string PlannedRun::setting() const {
  auto text = arm;
  for (const auto& [path, value] : sweep) text += ", " + path + " " + value;
  return text;
}

std::string PlannedRun::title() const { return setting() + ", seed " + std::to_string(seed); }

bool is_study(const std::filesystem::path& path) {
  const auto document = open_document({}, path);
  const auto designs = StudyConfig{}.designs();
  return std::any_of(designs.begin(), designs.end(),
                     [&](const auto& design) { return document.tree.find(design.first) != nullptr; });
}

Study load_study(const std::filesystem::path& path, const std::vector<std::string>& sets) {
  const auto document = open_document({}, path);
  auto config = read_config<StudyConfig>(document.tree);
  if (config.name.empty()) config.name = path.stem().string();
  if (!is_file_name(config.name))
    throw ConfigError(
        Problem{document.tree.deepest("name").place, "name", "must be made of letters, digits, _ - and ."});
  auto base = config.base.is_scalar() ? nested("base", config.base) : config.base;
  if (config.budget.tokens) {
    const auto assigned = parse_assignments(sets);
    if (const auto* steps = at_path(assigned, kSteps))
      throw ConfigError(Problem{steps->place, "", "has no effect; budget sets train.steps for every run"});
    base = with_open_steps(std::move(base));
  }
  Study study{.name = config.name,
              .question = config.question,
              .hypothesis = config.hypothesis,
              .budget = config.budget,
              .base = read_run_config(base, document.folder, sets),
              .runs = {}};
  Planner(config, document, study).plan();
  return study;
}

}  // namespace blockzoo
