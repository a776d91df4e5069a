#include "blockzoo/core/config_error.h"

namespace blockzoo {
namespace {

std::string joined(const std::vector<Problem>& problems) {
  std::string text;
  for (const auto& problem : problems) text += (text.empty() ? "" : "\n") + to_string(problem);
  return text;
}

}  // namespace

std::string to_string(const Problem& problem) {
  std::string text = problem.place.file;
  if (problem.place.line > 0) text += (text.empty() ? "line " : ":") + std::to_string(problem.place.line);
  if (problem.place.line > 0 && problem.path.empty()) text += ":" + std::to_string(problem.place.column);
  for (const auto& part : {problem.path, problem.message}) {
    if (!part.empty()) text += (text.empty() ? "" : ": ") + part;
  }
  return text;
}

ConfigError::ConfigError(std::vector<Problem> problems)
    : std::runtime_error(joined(problems)), problems_(std::move(problems)) {}

}  // namespace blockzoo
