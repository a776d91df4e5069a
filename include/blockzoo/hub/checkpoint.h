#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace blockzoo {

/// All that a run needs to go on from a step.
struct Checkpoint {
  int64_t step = 0;
  std::string config_hash;        // identity of the run; a checkpoint of another run is refused
  std::string config_yaml;        // the resolved config, for people and for export
  std::string state_json = "{}";  // the trainer's own fields: one JSON map; values come back equal, spacing may not
  std::map<std::string, at::Tensor> weights;
  std::map<std::string, at::Tensor> optimizer;
};

/// What load_newest_checkpoint found.
struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::filesystem::path path;
  std::vector<std::string> refused;  // newer ones that were not usable, each with its reason
};

/// "step_00000200".
std::string checkpoint_name(int64_t step);

/// The folders in `folder` that are named as checkpoints, newest first. None when the folder does not exist.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

/// Saves to `<folder>/step_<step>/`: weights.safetensors, optimizer.safetensors, config.yaml, and state.json with the
/// sizes and checksums of the others. All is written and synced under another name first, then renamed, so that the
/// folder is complete whenever it can be seen; one of the same step is replaced. Then all but the newest `keep` up to
/// this step are removed; 0 keeps all. Returns the folder. What a killed process left behind stays until
/// remove_unfinished(folder), which needs the run's lock.
/// Errors: std::runtime_error that names the checkpoint and the reason (a full disk, say); older ones are untouched.
std::filesystem::path save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, int64_t keep);

/// Reads one checkpoint folder and checks every byte of it against state.json.
/// Errors: std::runtime_error that names folder, file and reason: torn, changed, another format, or, unless
/// `config_hash` is empty, of another run.
Checkpoint load_checkpoint(const std::filesystem::path& path, const std::string& config_hash = "");

/// The newest checkpoint that load_checkpoint accepts, or nothing when there are none at all.
/// Errors: std::runtime_error with every reason when there are some and none is usable.
std::optional<FoundCheckpoint> load_newest_checkpoint(const std::filesystem::path& folder,
                                                      const std::string& config_hash = "");

}  // namespace blockzoo
