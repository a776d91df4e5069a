#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace blockzoo {

/// The files that the paths name: a file itself; of a folder all regular files below it in the byte order of their
/// paths, without names that begin with a dot. Errors: std::runtime_error with path and reason.
std::vector<std::filesystem::path> text_files(const std::vector<std::string>& paths);

}  // namespace blockzoo
