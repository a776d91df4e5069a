#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blockzoo/core/build_info.h"
#include "blockzoo/train/sample.h"
#include "blockzoo/train/session.h"

namespace blockzoo {

/// How a run ended, or that it has not. `not started` is of runs that a study plans, and never in a record.
enum class RunStatus { kNotStarted, kRunning, kFinished, kDiverged, kInterrupted, kFailed };

constexpr auto names(RunStatus) {
  using enum RunStatus;
  return std::to_array<std::pair<RunStatus, std::string_view>>({{kNotStarted, "not started"},
                                                                {kRunning, "running"},
                                                                {kFinished, "finished"},
                                                                {kDiverged, "diverged"},
                                                                {kInterrupted, "interrupted"},
                                                                {kFailed, "failed"}});
}

/// Of parameters by part, those of the layers and norms: neither the token table nor learned positions nor the head, as
/// Pythia counts (Biderman et al. 2023, arXiv:2304.01373). Tied or not makes no difference to it.
int64_t without_embeddings(const std::map<std::string, int64_t>& parameters_by_part);

/// `run.json`: one run for programs. Numbers that are not finite are null there. Fields that came later are absent in
/// older files of the same schema.
struct RunRecord {
  static constexpr int64_t kSchema = 1;

  RunStatus status = RunStatus::kRunning;
  std::string message;              // what went wrong, if anything
  std::vector<std::string> alarms;  // what makes the numbers doubtful, in sentences
  std::string identity;
  int64_t seed = 0;
  int64_t step = 0;    // updates done
  int64_t steps = 0;   // updates asked for
  int64_t tokens = 0;  // trained on, counted in the batches
  int64_t parameters = 0;
  std::map<std::string, int64_t> parameters_by_part;
  std::optional<double> training_flops;  // of the updates done, by kTrainingFlopsConvention; absent: not known
  std::string device;
  std::string machine;  // that it ran on, all of them when it was resumed elsewhere; empty: not known
  BuildInfo build;      // of the program that trained it
  std::string kernels;  // what computed it, as describe(Kernels) has it; empty: not known
  int64_t threads = 0;
  std::string started;    // UTC, ISO 8601
  double train_s = 0;     // time in updates, validation and saving left out
  std::string tokenizer;  // hash of the one that a file gave; empty: a byte is a token, or not known
  std::string text_hash;  // of training and validation text, whatever tokenizer made tokens of it; empty: not known
  std::string data_hash;
  std::string batches_hash;  // of all batches that were trained on
  std::string validation_hash;
  std::optional<double> entropy_bound_nats;  // per validation token; absent: nobody generated the text
  double first_loss = 0;                     // nats per token
  std::map<std::string, double> first_gradient_norms;
  std::optional<EvalResult> validation;       // at the end
  std::optional<EvalResult> best_validation;  // of all that were taken
  int64_t best_step = 0;
  std::optional<Sample> sample;  // what the trained model writes; absent: nobody asked

  /// False for a record that no run has written: its numbers mean nothing.
  bool begun() const { return parameters > 0; }
  /// "blockzoo 0.1.0 (commit 0123456789ab, GNU 12.2.0, Release, LibTorch 2.13.0)"; empty when not known.
  std::string built_with() const;
  double tokens_per_s() const { return train_s > 0 ? static_cast<double>(tokens) / train_s : 0; }
};

/// Strict JSON, indented.
std::string to_json(const RunRecord& record);
/// Errors: std::exception with what is missing or of the wrong kind; another schema.
RunRecord record_from_json(const std::string& json);

/// Errors: std::runtime_error with path and reason, also for another schema.
RunRecord read_record(const std::filesystem::path& run_folder);
void write_record(const std::filesystem::path& run_folder, const RunRecord& record);

/// One line of metrics.jsonl. Only `seconds` and `tokens_per_s` depend on the clock.
std::string step_line(const StepResult& result, int64_t tokens, double train_s);
std::string validation_line(int64_t step, const EvalResult& result);

/// Now in UTC, as 2026-01-31T12:00:00Z.
std::string utc_now();

}  // namespace blockzoo
