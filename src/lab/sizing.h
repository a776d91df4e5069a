#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blockzoo/lab/study.h"
#include "core/document.h"
#include "lab/design.h"
#include "lab/notes.h"

namespace blockzoo {

constexpr std::string_view kSteps = "train.steps";

/// The value at a dotted path, if there is one.
const Tree* at_path(const Tree& tree, std::string_view path);

/// How long every run of a study trains (its budget) and how large it is (its match).
class Sizing {
 public:
  /// `update_s` is asked when runs are matched by wall clock. Everything given must outlive it.
  Sizing(const StudyConfig& config, const Document& file, const UpdateSeconds& update_s, Notes& notes);

  /// Notes keys that budget or match set for every run where a part or the sweep sets them too.
  void refuse_what_has_no_effect(const std::vector<Part>& parts);

  /// The config with the steps that the budget gives it. Errors: ConfigError.
  RunConfig budgeted(const RunConfig& config) const;

  /// Gives the run the value of the searched key that makes it as large as the base; notes why and is false when there
  /// is none. `open` is the run before the budget. True without a match.
  bool match(const DesignedArm& arm, PlannedRun& run, const RunConfig& open, const RunConfig& base);

 private:
  Place place_of(std::string_view path) const { return file_.tree.deepest(path).place; }
  void refuse(const std::string& key, const std::string& reason, const std::vector<Part>& parts);
  double measured(const RunConfig& config) const;
  std::optional<int64_t> searched_value(const DesignedArm& arm, const PlannedRun& run, const Tree& document);

  const StudyConfig& config_;
  const Document& file_;
  const UpdateSeconds& update_s_;
  Notes& notes_;
  std::string key_;                                          // that match searches; empty: none
  std::map<std::pair<std::string, double>, Match> matches_;  // by what decides them; most sweeps change no size
};

}  // namespace blockzoo
