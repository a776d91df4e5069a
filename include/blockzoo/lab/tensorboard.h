#pragma once

#include <filesystem>

#include "blockzoo/lab/study_folder.h"

namespace blockzoo {

/// Writes one event file for each run that has logged something, <folder>/<run's folder>/events.out.tfevents..., which
/// `tensorboard --logdir <folder>` opens. Tags: train/loss, train/gradient_norm, validation/loss. Files of an earlier
/// call are replaced. Numbers that are not finite are left out. Errors: std::system_error.
void write_tensorboard(const std::filesystem::path& folder, const StudyFolder& study);

}  // namespace blockzoo
