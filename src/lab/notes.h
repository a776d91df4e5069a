#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// The problems of a study, gathered until all are known.
class Notes {
 public:
  /// Relative paths in patches are seen from `folder`.
  explicit Notes(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Once, even where it comes up in several arms.
  void add(Problem problem);
  bool empty() const { return problems_.empty(); }
  /// Errors: ConfigError with every problem, if there is one.
  void throw_if_any() const;

  /// What `make` makes. Its problems are noted with `where` before their paths, and at `place` where they have none;
  /// then there is nothing.
  std::optional<RunConfig> made(const std::string& where, const Place& place, const std::function<RunConfig()>& make);
  std::optional<RunConfig> patched(const std::string& where, const Place& place, const RunConfig& config,
                                   const Tree& patch);

 private:
  const std::filesystem::path folder_;
  std::vector<Problem> problems_;
  std::set<std::string> seen_;
};

}  // namespace blockzoo
