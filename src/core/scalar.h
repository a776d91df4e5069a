#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blockzoo {

/// The whole token as a decimal number: sign, digits, point, exponent. Leading zeros, hexadecimal, underscores, nan and
/// inf are not numbers here. Independent of the locale.
std::optional<double> parse_number(std::string_view text);

/// As parse_number, and the value is a whole number that 64 bits hold exactly; 1e3 is 1000, 1.5 is refused.
std::optional<int64_t> parse_integer(std::string_view text);

/// true or false, nothing else.
std::optional<bool> parse_bool(std::string_view text);

/// Shortest text that reads back to the same bits, in a spelling that YAML 1.1 readers take for a number too.
std::string write_number(double value);

/// A plain scalar that some YAML reader would not take for text (no, null, 1e3, 12:30, ...), or that needs quotes.
bool needs_quotes(std::string_view text);

}  // namespace blockzoo
