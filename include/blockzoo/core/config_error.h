#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace blockzoo {

/// Where a value stands. `line` counts from 1; 0 means that the value was not read from a file.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

/// One thing wrong with a config: where, which key, what is wrong and what is allowed.
struct Problem {
  Place place;
  std::string path;
  std::string message;
};

/// "file:line: path: message", leaving out what is not known.
std::string to_string(const Problem& problem);

/// Thrown once with every problem that was found. what() has one line for each.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<Problem> problems);
  explicit ConfigError(Problem problem);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

}  // namespace blockzoo
