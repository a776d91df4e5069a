#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "blockzoo/train/probe.h"

namespace blockzoo {

/// What the seeds of one arm at one point of the sweep saw when they looked inside, one list of probes a seed:
/// {steps, mean_log_z, activation_growth, gradient_growth, layers: {name: {figure: [...]}}}. Every list is as long as
/// `steps` and holds means over the seeds that have a value, null where none has.
nlohmann::ordered_json probes_of(const std::vector<std::vector<Probe>>& seeds);

}  // namespace blockzoo
