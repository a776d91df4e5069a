#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace blockzoo {

/// Two runs side by side for a terminal: their loss curves on one scale, losses and their difference along the way,
/// what each came to, and what differs in their configs. Errors: std::runtime_error when a folder holds no run.
std::string compare_runs(const std::filesystem::path& first, const std::filesystem::path& second);

/// Values as bars of eight heights between `low` and `high`, thinned to `width` characters by means; a space where no
/// value is finite.
std::string sparkline(std::span<const double> values, double low, double high, int width);

}  // namespace blockzoo
