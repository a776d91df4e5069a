#pragma once

#include <string>
#include <vector>

#include "blockzoo/lab/ablate.h"

namespace blockzoo {

/// Markdown: parameters, training FLOPs and how it was matched, a line for each arm and point, with the conventions.
std::string size_and_compute(const Study& study, const std::vector<RunOutcome>& outcomes);

/// The largest training FLOPs among the records of these runs; empty when none says.
std::string training_flops_cell(const std::vector<RunOutcome>& runs);

/// Parameters without embeddings of the largest of these runs.
std::string without_embeddings_cell(const std::vector<RunOutcome>& runs);

/// The residue of a run's match as a share, not in percent; empty when nothing was matched.
std::string residue_cell(const PlannedRun& run);

}  // namespace blockzoo
