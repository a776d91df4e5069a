#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blockzoo/train/probe.h"

namespace blockzoo {

/// The probes that a run recorded as train.probe_every says, in the order of their steps; of steps that were done again
/// after a crash the later ones count. Empty when it recorded none.
std::vector<Probe> recorded_probes(const std::filesystem::path& run_folder);

/// Looks into a run: before its first update and at every checkpoint that it kept.
/// Errors: std::runtime_error when a checkpoint cannot be read; as Session.
std::vector<Probe> probe_checkpoints(const std::filesystem::path& run_folder, const RunConfig& config);

/// A table by layer for each probe, and how activations and gradients grow over depth. Of more than five probes, five
/// that are spread evenly.
std::string probe_text(const std::vector<Probe>& probes);

/// All of them: {"probes": [{"step", "loss", "mean_log_z", "activation_growth", ..., "layers": {...}}]}.
std::string probe_json(const std::vector<Probe>& probes);

}  // namespace blockzoo
