#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace blockzoo {

/// Refuses a number for which `holds` is false: "--batch: must be above 0, got 0".
inline CLI::Validator number_check(const std::string& allowed, bool (*holds)(double)) {
  const auto problem = [allowed, holds](const std::string& text) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
    return number && holds(value) ? std::string() : "must be " + allowed + ", got " + text;
  };
  return {problem, ""};
}

inline const CLI::Validator above_zero = number_check("above 0", [](double value) { return value > 0; });
inline const CLI::Validator zero_or_more = number_check("0 or more", [](double value) { return value >= 0; });

}  // namespace blockzoo
