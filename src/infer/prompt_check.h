#pragma once

#include <string_view>
#include <vector>

#include "blockzoo/nn/model_config.h"

namespace blockzoo {

/// Throws std::runtime_error that begins with `name`: the prompt is empty, longer than the context, or has an id that
/// the vocabulary lacks.
void check_prompt(const std::vector<int64_t>& ids, std::string_view name, const ModelConfig& config);

}  // namespace blockzoo
