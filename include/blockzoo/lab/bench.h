#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// What other_flops counts.
inline constexpr std::string_view kOtherFlopsConvention =
    "1 for each add, subtract, multiply, divide, compare, root, exp, log, tanh and erf of the formulas and of their "
    "derivatives; casts, copies and random numbers are none";

/// Time, operations and new memory of one update by what operators are for. A fused attention's softmax is in it.
struct OperatorKind {
  std::string name;
  double seconds = 0;
  double calls = 0;
  double allocated_bytes = 0;  // of tensors that its operators made
  double flops = 0;            // by kTrainingFlopsConvention: matrix products
  double other_flops = 0;      // by kOtherFlopsConvention: everything else

  double all_flops() const { return flops + other_flops; }
};

/// The same by the classes of Ivanov et al. 2020, arXiv:2007.00072, whose Table 1 has 99.80 % of the FLOPs and 61.0 %
/// of the time in contractions, 0.17 and 25.5 % in normalisation, 0.03 and 13.5 % in element-wise operators. What fused
/// attention does to scores is a normalisation by its operations and a contraction by its time.
struct OperatorClass {
  std::string name;  // "contractions", "normalisation", "element-wise", "other"
  double seconds = 0;
  double flops = 0;  // all
};

/// What a run's updates cost on this machine.
struct Bench {
  std::vector<double> losses;   // of each update that was timed, nats per token
  std::vector<double> steps_s;  // of the same
  int64_t tokens_per_step = 0;
  double flops_per_step = 0;
  std::vector<OperatorKind> kinds;  // the dearest first; of updates of their own, which the recording slows a little
  std::vector<OperatorClass> classes;
  double product_flops_per_s = 0;  // the machine's limits, measured in the same process: a large product,
  double bytes_per_s = 0;          // and a = b + s c from memory
  double peak_bytes = 0;           // of tensors alive at a time in an update: weights, gradients, moments and the rest
  std::string kernels;
  std::string machine;
  int64_t threads = 0;
  double load = 0;  // mean number of running tasks over the last minute, this program's among them

  double median_step_s() const;
};

/// Records updates by operator, then trains `steps` from the run's start and times each.
/// Errors: those of a Session.
Bench bench(const RunConfig& config, int64_t steps);

/// The run's first update and nothing else.
void first_update(const RunConfig& config);

std::string to_json(const Bench& bench);
std::string to_text(const Bench& bench);

/// The run's start values under their names, and the tokens of its first `steps` batches as `batches.inputs` and
/// `batches.targets` [steps, B, T]: what another program needs to train the same.
void write_bench_inputs(const RunConfig& config, int64_t steps, const std::filesystem::path& file);

/// What was chosen on this machine for this run, and why: matrix library by product, instructions, threads, memory,
/// the BLAS's threads; with warnings of what makes it slow.
std::string explain(const RunConfig& config);

}  // namespace blockzoo
