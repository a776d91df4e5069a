#include "blockzoo/core/config_error.h"

#include <algorithm>
#include <tuple>

namespace blockzoo {
namespace {

std::string joined(const std::vector<Problem>& problems) {
  std::string text;
  for (const auto& problem : problems) {
    if (!text.empty()) text += '\n';
    text += to_string(problem);
  }
  return text;
}

/// In the order of the file, however they were found.
std::vector<Problem> in_order(std::vector<Problem> problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.place.file, a.place.line) < std::tie(b.place.file, b.place.line);
  });
  return problems;
}

}  // namespace

std::string to_string(const Problem& problem) {
  std::string text = problem.place.file;
  const auto append = [&](std::string_view separator, std::string_view part) {
    if (!text.empty()) text += separator;
    text += part;
  };
  if (problem.place.line > 0) append(":", std::to_string(problem.place.line));
  if (problem.place.line > 0 && problem.path.empty()) append(":", std::to_string(problem.place.column));
  if (!problem.path.empty()) append(": ", problem.path);
  append(": ", problem.message);
  return text;
}

ConfigError::ConfigError(std::vector<Problem> problems)
    : std::runtime_error(joined(in_order(problems))), problems_(in_order(std::move(problems))) {}

ConfigError::ConfigError(Problem problem) : ConfigError(std::vector<Problem>(1, std::move(problem))) {}

}  // namespace blockzoo
