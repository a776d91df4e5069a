#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace blockzoo {

/// A loss over the course of a run, as columns of equal length. NaN stands for what is not known or not finite.
struct LossCurve {
  std::vector<int64_t> steps;  // rising
  std::vector<double> tokens;
  std::vector<double> seconds;  // in updates
  std::vector<double> loss;     // nats per token
};

/// What metrics.jsonl of one run says.
struct RunHistory {
  LossCurve training;
  std::vector<double> gradient_norm;                                // beside `training`, before clipping
  std::map<std::string, std::vector<double>> layer_gradient_norms;  // beside `training`, by layer, where logged
  LossCurve validation;  // tokens and seconds are those of the line before, carried on to the step
};

/// Reads what is there: no file gives no points, and a line that is half written is left out. Of lines that go back to
/// an earlier step, as after a crash, the later ones count.
RunHistory read_history(const std::filesystem::path& run_folder);

}  // namespace blockzoo
