#include "blockzoo/lab/study.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/document.h"
#include "core/reader.h"
#include "core/writer.h"

namespace blockzoo {
namespace {

using Point = std::vector<std::pair<std::string, Tree>>;

bool is_file_name(const std::string& name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= 80 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), good);
}

/// Characters that a file name should not have become '-'.
std::string as_file_name(std::string text) {
  for (char& c : text) {
    if (!is_file_name(std::string("x") + c)) c = '-';
  }
  return text.substr(0, 80);
}

/// "lr" of train.optimizer.lr.
std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// Every combination of the swept values; one empty point when nothing is swept.
std::vector<Point> grid(const Tree& sweep, std::vector<Problem>& problems) {
  std::vector<Point> points{{}};
  if (sweep.kind != Tree::Kind::kNull && !sweep.is_map())
    problems.push_back(
        {sweep.place, "sweep", "must be a map of dotted paths to lists, as in {train.optimizer.lr: [1e-3, 3e-3]}"});
  for (const auto& [path, values] : sweep.entries) {
    if (!values.is_list() || values.items.empty()) {
      problems.push_back({values.place, "sweep." + path, "must be a list of values, as in [1e-3, 3e-3]"});
      continue;
    }
    std::vector<Point> longer;
    for (const auto& point : points) {
      for (const auto& value : values.items) {
        longer.push_back(point);
        longer.back().emplace_back(path, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

Tree seed_patch(int64_t seed) {
  Tree patch = Tree::map();
  patch["seed"] = to_tree(seed);
  patch["data"]["seed"] = to_tree(seed);
  return patch;
}

class Planner {
 public:
  Planner(const StudyConfig& config, std::filesystem::path folder, Study& study)
      : config_(config), folder_(std::move(folder)), study_(study) {}

  void plan() {
    const auto points = grid(config_.sweep, problems_);
    std::map<std::string, std::string> arm_of_patch;
    for (const auto& [name, patch] : config_.arms.entries) {
      if (!is_file_name(name)) {
        problems_.push_back({patch.place, "arms." + name, "a name must be made of letters, digits, _ - and ."});
        continue;
      }
      const auto arm = patched_or_noted("arms." + name, patch.place, study_.base, patch);
      if (!arm) continue;
      const auto [other, fresh] = arm_of_patch.try_emplace(write_yaml(to_document(resolved(*arm))), name);
      if (!fresh)
        problems_.push_back({patch.place, "arms." + name,
                             "is the same as arm " + other->second + "; it changes nothing that the model uses"});
      for (const auto& point : points) add_runs(name, *arm, point);
    }
    check_folders();
    if (!problems_.empty()) throw ConfigError(std::move(problems_));
  }

 private:
  /// The problems of the patched config are noted with `where` before their paths; then there is no config.
  std::optional<RunConfig> patched_or_noted(const std::string& where, const Place& place, const RunConfig& config,
                                            const Tree& patch) {
    try {
      return patched(config, patch, folder_);
    } catch (const ConfigError& error) {
      for (auto problem : error.problems()) {
        if (problem.place.line == 0) problem.place = place;
        problem.path = where + (problem.path.empty() ? "" : ": " + problem.path);
        const auto text = to_string(problem);
        if (seen_.insert(text).second) problems_.push_back(std::move(problem));
      }
      return std::nullopt;
    }
  }

  void add_runs(const std::string& arm, const RunConfig& config, const Point& point) {
    PlannedRun run{.arm = arm, .sweep = {}, .seed = 0, .folder = arm, .config = config, .differences = {}};
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
  const std::filesystem::path folder_;
  Study& study_;
  std::vector<Problem> problems_;
  std::set<std::string> seen_;
};

}  // namespace

std::string PlannedRun::title() const {
  auto text = arm;
  for (const auto& [path, value] : sweep) text += ", " + path + " " + value;
  return text + ", seed " + std::to_string(seed);
}

bool is_study(const std::filesystem::path& path) { return open_document({}, path).tree.find("arms") != nullptr; }

Study load_study(const std::filesystem::path& path, const std::vector<std::string>& sets) {
  const auto document = open_document({}, path);
  auto config = read_config<StudyConfig>(document.tree);
  if (config.name.empty()) config.name = path.stem().string();
  if (!is_file_name(config.name))
    throw ConfigError(
        Problem{document.tree.deepest("name").place, "name", "must be made of letters, digits, _ - and ."});
  const auto base = config.base.is_scalar() ? nested("base", config.base) : config.base;
  Study study{.name = config.name,
              .question = config.question,
              .base = read_run_config(base, document.folder, sets),
              .runs = {}};
  Planner(config, document.folder, study).plan();
  return study;
}

}  // namespace blockzoo
