#pragma once

#include <string>

#include "model_source.h"

namespace blockzoo {

/// README.md of an exported model: what it is, how to load it, the run's record, and its config.
std::string model_card(const SourcedModel& model, const std::string& title);

}  // namespace blockzoo
