#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace blockzoo {

/// The ids that end a text, as a Hugging Face folder says: eos_token_id of generation_config.json, or else of
/// config.json. Empty when neither says. Errors: std::runtime_error with the file and what is wrong.
std::vector<int64_t> stop_ids(const std::filesystem::path& folder);

}  // namespace blockzoo
