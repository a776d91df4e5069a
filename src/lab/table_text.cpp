#include "lab/table_text.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

namespace blockzoo {

std::string markdown_row(const std::vector<std::string>& parts) {
  std::string line = "|";
  for (auto part : parts) {
    for (size_t at = 0; (at = part.find('|', at)) != std::string::npos; at += 2) part.insert(at, "\\");
    line += " " + part + " |";
  }
  return line + "\n";
}

std::string csv_row(const std::vector<std::string>& parts) {
  std::string line;
  for (const auto& part : parts) {
    if (&part != &parts.front()) line += ',';
    if (part.find_first_of(",\"\n") == std::string::npos) {
      line += part;
      continue;
    }
    line += '"';
    for (const char c : part) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

std::string exact(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

}  // namespace blockzoo
