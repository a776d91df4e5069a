#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blockzoo/core/tree.h"
#include "blockzoo/lab/budget.h"
#include "blockzoo/lab/hypothesis.h"
#include "blockzoo/lab/matching.h"
#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// A study file: one base, several arms that differ from it, the same values swept in each, the same seeds for all.
struct StudyConfig {
  std::string name;
  std::string question;
  HypothesisConfig hypothesis;
  Tree base;
  Tree arms;
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
    visit("sweep", self.sweep, "dotted path: list of values; every combination is run for every arm");
    visit("seeds", self.seeds, not_negative,
          "each run is repeated with these; a seed sets start values, dropout and data order");
    visit("budget", self.budget, "how much every run is trained, in place of train.steps");
    visit("match", self.match, "makes every arm as large as the base by searching one whole number");
  }
  static void rules(const auto& self, auto& expect) {
    expect(self.arms.is_map() && !self.arms.entries.empty(), "arms",
           "must name at least one arm, as in {pre_norm: {}}");
    expect(self.base.is_map() || self.base.is_scalar(), "base", "must be the path of a run file or a map");
    expect(!self.seeds.empty(), "seeds", "must hold at least one seed");
    expect(!self.budget.tokens || self.match.key() != "train.steps", "match",
           "searches train.steps, which budget sets; leave one of the two out");
  }
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
  RunConfig base;
  std::vector<PlannedRun> runs;  // arm by arm, sweep by sweep, seed by seed
};

/// Reads a study and plans its runs. `sets` are laid over the base. An arm that changes nothing is the base itself and
/// allowed once; where no arm is, the base is run too, as the arm `base`, since the others are judged by it. With a
/// budget every run has the steps that it gives. With a match every run but the base has the value of the searched key
/// that comes nearest to the base at the same point of the sweep, or to the base as it stands where it has no such
/// point. Errors: ConfigError with every problem of every arm.
Study load_study(const std::filesystem::path& path, const std::vector<std::string>& sets = {});

/// A study file has arms; a run file has none.
bool is_study(const std::filesystem::path& path);

}  // namespace blockzoo
