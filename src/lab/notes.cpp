#include "lab/notes.h"

namespace blockzoo {

void Notes::add(Problem problem) {
  auto known = problem;
  if (known.place.line > 0) known.path.clear();
  if (seen_.insert(to_string(known)).second) problems_.push_back(std::move(problem));
}

void Notes::throw_if_any() const {
  if (!problems_.empty()) throw ConfigError(problems_);
}

std::optional<RunConfig> Notes::made(const std::string& where, const Place& place,
                                     const std::function<RunConfig()>& make) {
  try {
    return make();
  } catch (const ConfigError& error) {
    for (auto problem : error.problems()) {
      if (problem.place.line == 0) problem.place = place;
      problem.path = where + (problem.path.empty() ? "" : ": " + problem.path);
      add(std::move(problem));
    }
    return std::nullopt;
  }
}

std::optional<RunConfig> Notes::patched(const std::string& where, const Place& place, const RunConfig& config,
                                        const Tree& patch) {
  return made(where, place, [&] { return blockzoo::patched(config, patch, folder_); });
}

}  // namespace blockzoo
