#include "blockzoo/lab/study.h"

#include <algorithm>
#include <map>
#include <set>

#include "blockzoo/lab/studied_keys.h"
#include "core/document.h"
#include "core/reader.h"
#include "core/writer.h"
#include "lab/design.h"
#include "lab/notes.h"
#include "lab/sizing.h"
#include "lab/sweep.h"

namespace blockzoo {
namespace {

constexpr int64_t kOpenSteps = int64_t{1} << 40;

/// Until a budget is shared out any warm-up fits.
Tree with_open_steps(Tree base) {
  const auto* train = base.find("train");
  if (train == nullptr || train->is_map()) base["train"]["steps"] = to_tree(kOpenSteps);
  return base;
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
  Planner(const StudyConfig& config, const Document& file, const UpdateSeconds& update_s, Study& study)
      : config_(config),
        file_(file),
        plain_base_(study.base),
        open_base_(study.base),
        notes_(file.folder),
        design_(design_of(config, file.tree, notes_)),
        sizing_(config, file, update_s, notes_),
        study_(study) {}

  void plan() {
    const auto points = grid(config_.sweep, notes_);
    sizing_.refuse_what_has_no_effect(design_.parts);
    const auto reference = made(design_.reference);
    if (!reference) return notes_.throw_if_any();
    open_base_ = *reference;
    const auto base = notes_.made("base", place_of("budget.tokens"), [&] { return sizing_.budgeted(open_base_); });
    if (!base) return notes_.throw_if_any();
    study_.base = *base;
    study_.factors = design_.factors;
    for (const auto& [arm, config] : arms()) {
      for (const auto& point : points) add_runs(arm, config, point);
    }
    check_hypothesis();
    check_folders();
    notes_.throw_if_any();
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
    const auto config = notes_.patched(arm.path, arm.place, plain_base_, patch);
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
        notes_.add(
            {arm.place, arm.path, "is the same as arm " + other->second + "; it changes nothing that the model uses"});
      found.push_back({arm, *config});
    }
    const bool base_is_there = arm_of_text.count(text_of(open_base_)) > 0;
    for (const auto& arm : design_.arms) {
      if (arm.name == reference.name && !(base_is_there && config_.arms.is_map()))
        notes_.add({arm.place, arm.path, "is not the base; the name is kept for the base itself"});
    }
    if (!base_is_there) found.insert(found.begin(), {reference, open_base_});
    return found;
  }

  Place place_of(std::string_view path) const { return file_.tree.deepest(path).place; }

  void check_hypothesis() {
    if (!config_.hypothesis.stated()) return;
    std::vector<std::string> names;
    for (const auto& run : study_.runs) {
      if (names.empty() || names.back() != run.arm) names.push_back(run.arm);
    }
    const auto check = [&](const char* key, const std::string& name) {
      if (std::find(names.begin(), names.end(), name) != names.end()) return;
      const auto path = std::string("hypothesis.") + key;
      notes_.add({place_of(path), path, "no arm '" + name + "'" + did_you_mean(name, names)});
    };
    if (!notes_.empty()) return;  // arms that are not sound are not among the names
    check("arm", config_.hypothesis.arm);
    check("better_than", config_.hypothesis.better_than);
  }

  /// What the runs at a point are matched with.
  RunConfig base_at(const SweepPoint& point) const {
    try {
      auto config = open_base_;
      for (const auto& [path, value] : point) config = patched(config, nested(path, value), file_.folder);
      return sizing_.budgeted(config);
    } catch (const ConfigError&) {  // the base has no such key
      return study_.base;
    }
  }

  void add_runs(const DesignedArm& arm, const RunConfig& config, const SweepPoint& point) {
    PlannedRun run{.arm = arm.name, .sweep = {}, .seed = 0, .folder = arm.name, .config = config, .differences = {}};
    std::string label;
    for (const auto& [path, value] : point) {
      const auto swept = notes_.patched("sweep." + path, value.place, run.config, nested(path, value));
      if (!swept) return;
      run.config = *swept;
      const auto& text = value.is_scalar() ? value.text : one_line(value);
      run.sweep.push_back({path, text});
      label += (label.empty() ? "" : ",") + as_file_name(last_part(path) + "=" + text);
    }
    if (!label.empty()) run.folder /= label;
    const auto swept = run.config;
    const auto whole = notes_.made(arm.path, arm.place, [&] { return sizing_.budgeted(swept); });
    if (!whole) return;
    run.config = *whole;
    if (!sizing_.match(arm, run, swept, base_at(point))) return;
    run.differences = differences(to_document(resolved(study_.base)), to_document(resolved(run.config)));
    for (const auto seed : config_.seeds) {
      auto seeded = run;
      seeded.seed = seed;
      seeded.folder /= "seed" + std::to_string(seed);
      seeded.config = patched(run.config, seed_patch(seed), file_.folder);
      study_.runs.push_back(std::move(seeded));
    }
  }

  void check_folders() {
    std::set<std::filesystem::path> folders;
    for (const auto& run : study_.runs) {
      if (!folders.insert(run.folder).second)
        notes_.add({config_.sweep.place, "", "two runs are the same: " + run.title()});
    }
  }

  const StudyConfig& config_;
  const Document& file_;
  const RunConfig plain_base_;  // what parts are laid over
  RunConfig open_base_;         // what arms are held against, before the budget
  Notes notes_;
  const Design design_;
  Sizing sizing_;
  Study& study_;
};

/// What the document says, or the file's name. Errors: ConfigError.
std::string name_in(const Document& document, const std::filesystem::path& path) {
  const auto* said = document.tree.find("name");
  const auto name = said != nullptr && said->is_scalar() && !said->text.empty() ? said->text : path.stem().string();
  if (!is_file_name(name))
    throw ConfigError(
        Problem{document.tree.deepest("name").place, "name", "must be made of letters, digits, _ - + and ."});
  return name;
}

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

std::string study_name(const std::filesystem::path& path) { return name_in(open_document({}, path), path); }

Study load_study(const std::filesystem::path& path, const std::vector<std::string>& sets,
                 const UpdateSeconds& update_s) {
  const auto document = open_document({}, path);
  auto config = read_config<StudyConfig>(document.tree);
  config.name = name_in(document, path);
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
  Planner(config, document, update_s, study).plan();
  return study;
}

}  // namespace blockzoo
