#pragma once

#include <string>
#include <vector>

namespace blockzoo {

/// "| a | b |" and a line end; bars inside are escaped.
std::string markdown_row(const std::vector<std::string>& parts);

/// Quoted where a comma, a quote or a line end asks for it (RFC 4180).
std::string csv_row(const std::vector<std::string>& parts);

/// The shortest text that reads back as the same double; empty when it is not finite.
std::string exact(double value);

}  // namespace blockzoo
