#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blockzoo/core/tree.h"
#include "blockzoo/lab/budget.h"
#include "blockzoo/lab/hypothesis.h"
#include "blockzoo/lab/matching.h"
#include "blockzoo/lab/step_clock.h"
#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// A study file: one base, several arms that differ from it, the same values swept in each, the same seeds for all.
/// What the arms are is said in one of four ways: `arms`, `additions`, `leave_one_out` or `factorial`.
struct StudyConfig {
  std::string name;
  std::string question;
  HypothesisConfig hypothesis;
  Tree base;
  Tree arms;
  Tree additions;
  Tree leave_one_out;
  Tree factorial;
  Tree sweep;
  std::vector<int64_t> seeds{0};
  BudgetConfig budget;
  MatchConfig match;

  static void fields(auto& self, auto& visit) {
    visit("name", self.name, "name of the results' folder; the file's name when absent");
    visit("question", self.question, "what the study asks, for the report");
    visit("hypothesis", self.hypothesis, "what is expected, checked when all is run");
    visit("base", self.base, "path of a run file, or a run config written here, which may have a base itself");
    visit("arms", self.arms, "name of each arm, and what differs from the base; {} is the base itself");
    visit("additions", self.additions, "name of each part, and what it sets; the base with each part alone is an arm");
    visit(
        "leave_one_out", self.leave_one_out,
        "name of each part, and what it sets; the base with all parts is the recipe, and without each of them an arm");
    visit("factorial", self.factorial,
          "name of each factor: name of each level, and what it sets; every combination is an arm, that of the first "
          "levels the one that the others are held against");
    visit("sweep", self.sweep, "dotted path: list of values; every combination is run for every arm");
    visit("seeds", self.seeds, not_negative,
          "each run is repeated with these; a seed sets start values, dropout and data order");
    visit("budget", self.budget, "how much every run is trained, in place of train.steps");
    visit("match", self.match, "makes every arm as large as the base by searching one whole number");
  }
  static void rules(const auto& self, auto& expect) {
    int64_t designs = 0;
    for (const auto& [key, map] : self.designs()) {
      const bool given = map->kind != Tree::Kind::kNull;
      designs += given ? 1 : 0;
      expect(!given || (map->is_map() && !map->entries.empty()), key,
             "must be a map of at least one name, as in {pre_norm: {}}");
    }
    expect(designs == 1, "arms", "one of arms, additions, leave_one_out and factorial must say what is compared");
    expect(self.base.is_map() || self.base.is_scalar(), "base", "must be the path of a run file or a map");
    expect(!self.seeds.empty(), "seeds", "must hold at least one seed");
    expect(!self.budget.tokens || self.match.key() != "train.steps", "match",
           "searches train.steps, which budget sets; leave one of the two out");
  }

  /// The four that say what is compared.
  std::array<std::pair<std::string_view, const Tree*>, 4> designs() const {
    return {{{"arms", &arms}, {"additions", &additions}, {"leave_one_out", &leave_one_out}, {"factorial", &factorial}}};
  }
};

/// What a factorial study varies, with its levels; the first is the one that the others are held against.
struct Factor {
  std::string name;
  std::vector<std::string> levels;

  bool operator==(const Factor&) const = default;
};

/// One value that a sweep gave.
struct SweepValue {
  std::string path;
  std::string value;

  bool operator==(const SweepValue&) const = default;
};

/// One run of a study.
struct PlannedRun {
  std::string arm;
  std::vector<SweepValue> sweep;
  int64_t seed = 0;
  std::filesystem::path folder;  // below the study's
  RunConfig config;
  std::vector<Difference> differences;  // from the base, the seed left out
  std::optional<Match> match = {};      // absent: nothing is matched, or this is the base itself

  /// "post_norm, train.optimizer.lr 0.003".
  std::string setting() const;
  /// The same with its seed: "post_norm, train.optimizer.lr 0.003, seed 1".
  std::string title() const;
};

struct Study {
  std::string name;
  std::string question;
  HypothesisConfig hypothesis = {};
  BudgetConfig budget = {};
  RunConfig base;                    // what the arms are held against
  std::vector<PlannedRun> runs;      // arm by arm, sweep by sweep, seed by seed
  std::vector<Factor> factors = {};  // of a factorial study, whose arms are named level+level
};

/// Seconds that one update of a run takes; see StepClock.
using UpdateSeconds = std::function<double(const RunConfig&)>;

/// Reads a study and plans its runs. `sets` are laid over the base. An arm that changes nothing is the base itself and
/// allowed once; where no arm is, the base is run too, as the arm `base`, since the others are judged by it (in a study
/// that leaves out, the recipe as the arm `recipe`; in a factorial one, the arm of all first levels). With a
/// budget every run has the steps that it gives. With a match every run but the base has the value of the searched key
/// that comes nearest to the base at the same point of the sweep, or to the base as it stands where it has no such
/// point; `update_s` is asked when that is to be by wall clock. Errors: ConfigError with every problem of every arm.
Study load_study(const std::filesystem::path& path, const std::vector<std::string>& sets = {},
                 const UpdateSeconds& update_s = StepClock());

/// What the study is called: its `name`, or its file's. Errors: ConfigError.
std::string study_name(const std::filesystem::path& path);

/// A study file says what is compared; a run file does not.
bool is_study(const std::filesystem::path& path);

}  // namespace blockzoo
