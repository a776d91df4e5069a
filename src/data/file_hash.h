#pragma once

#include <cstdint>
#include <string>

namespace blockzoo {

/// Hash of a file's content. Read once: it is remembered while size and time of the file stay.
/// Errors: std::runtime_error with path and reason.
uint64_t file_hash(const std::string& path);

}  // namespace blockzoo
