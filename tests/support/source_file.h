#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace blockzoo {

/// A file of the source tree.
inline std::string source_file(const std::string& name) {
  std::ifstream file(std::filesystem::path(BLOCKZOO_SOURCE_DIR) / name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Empty when the texts are equal, else their first line that differs.
inline std::string first_difference(const std::string& expected, const std::string& actual) {
  std::istringstream left(expected), right(actual);
  std::string a, b;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(left, a));
    const bool more_b = static_cast<bool>(std::getline(right, b));
    if (!more_a && !more_b) return "";
    if (!more_a || !more_b || a != b)
      return "line " + std::to_string(line) + ": '" + (more_a ? a : "(end)") + "' instead of '" +
             (more_b ? b : "(end)") + "'";
  }
}

}  // namespace blockzoo
