#pragma once

#include <filesystem>

#include "blockzoo/train/progress.h"
#include "blockzoo/train/record.h"

namespace blockzoo {

/// What to do when the folder holds a run already.
enum class Existing { kRefuse, kResume, kRestart };

struct RunOptions {
  std::filesystem::path folder;
  Existing existing = Existing::kRefuse;
  Talk talk = Talk::kNormal;
};

/// Trains one run in its folder: config.yaml (resolved, every default), run.json, metrics.jsonl, checkpoints/.
/// Ends as finished, diverged, or, after SIGINT or SIGTERM, interrupted with a checkpoint; resuming goes on bit for
/// bit. Errors: RunLocked when another process is at it; anything else is thrown after it is in the record as failed.
RunRecord run_training(const RunConfig& config, const RunOptions& options);

/// Threads that `choice` means on this machine: the cores that this process may use, when it is absent.
int64_t thread_count(std::optional<int64_t> choice);

}  // namespace blockzoo
