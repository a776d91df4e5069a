#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blockzoo/lab/ablate.h"
#include "blockzoo/lab/run_history.h"

namespace blockzoo {

/// What a run left beside its record.
struct RunTrace {
  bool has_record = false;  // false: the numbers in its RunRecord mean nothing
  RunHistory history;
};

/// A study that `blockzoo ablate` began, read back at any time: before, during or after its runs.
struct StudyFolder {
  std::filesystem::path folder;
  Study study;                       // configs are not read back: `base` and the runs' `config` are the defaults
  std::vector<RunOutcome> outcomes;  // one for each planned run; not started when it has no record
  std::vector<RunTrace> traces;      // one for each planned run
  std::string base_yaml;             // the base with every default; empty when study.json has none
  std::string machine;               // that the study ran on; empty when study.json has none
};

/// Reads study.json and what its runs have written so far. A run whose record says `running` although its process is
/// gone is `interrupted`. Errors: std::runtime_error when there is no study.json, or what is wrong with it.
StudyFolder read_study_folder(const std::filesystem::path& folder);

}  // namespace blockzoo
