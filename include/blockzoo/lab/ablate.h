#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blockzoo/lab/study.h"
#include "blockzoo/train/record.h"
#include "blockzoo/train/run.h"

namespace blockzoo {

struct AblateOptions {
  std::filesystem::path folder;   // of the study
  std::filesystem::path program;  // that trains one run: `program train CONFIG --out FOLDER ...`
  int64_t jobs = 1;               // runs at a time; the cores are shared out among them
  bool fail_fast = false;         // stop at the first run that fails
  Talk talk = Talk::kNormal;
};

/// What became of one planned run.
struct RunOutcome {
  std::filesystem::path folder;
  RunRecord record;      // status failed, with its reason, when there is none on disk
  bool skipped = false;  // it was there already
};

/// Trains every run of a study that is not done, each in a process of its own, so that a crash costs one run. Finished
/// and diverged runs with the same identity are kept; half-done ones go on from their checkpoint; a folder that holds a
/// run of another config is set aside. Writes study.json, which says what belongs to the study.
/// Returns one outcome for each planned run, in order; runs that a stop signal or fail_fast prevented are
/// `not started`, or `interrupted` when an earlier call began them. Errors: RunLocked when another process is at this
/// study; std::system_error about files.
std::vector<RunOutcome> run_study(const Study& study, const AblateOptions& options);

/// Default of --jobs: as many as there are cores, up to the number of runs.
int64_t default_jobs(const Study& study);

}  // namespace blockzoo
