#pragma once

#include <string>
#include <vector>

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// Texts that are continued together, greedily, for timing.
struct GenerationLoad {
  int64_t texts = 1;
  int64_t prompt_tokens = 32;  // of each text
  int64_t new_tokens = 128;    // of each text
};

/// What generation costs on this machine with a run's start values.
struct GenerationBench {
  double prompt_s = 0;          // until each text has its first token
  std::vector<double> steps_s;  // each later token of all texts
  std::vector<std::vector<int64_t>> prompts, ids;
  double bytes_per_step = 0;       // weights and kept keys and values that a step reads, at the middle of the texts
  double model_bytes = 0;          // the same without copies in fewer bytes
  double flops_per_step = 0;       // at the middle of the texts
  double product_flops_per_s = 0;  // the machine's limits, measured in the same process: a large product,
  double bytes_per_s = 0;          // and reading memory
  std::string kernels, machine, precision;
  std::string copies;  // of weights that a step reads instead: "none", or of how many in how many bytes
  int64_t threads = 0;
  double load = 0;  // mean number of running tasks over the last minute, this program's among them

  double median_step_s() const;
};

/// Continues made-up prompts with the run's start values, weights and cache in train.precision.
/// Errors: std::runtime_error where the texts are longer than the model's context; those of a Session.
GenerationBench bench_generation(const RunConfig& config, const GenerationLoad& load);

std::string to_json(const GenerationBench& bench);
std::string to_text(const GenerationBench& bench);

}  // namespace blockzoo
