#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "blockzoo/lab/ablate.h"
#include "blockzoo/lab/statistics.h"

namespace blockzoo {

/// The runs of one arm at one point of the sweep, over its seeds. Losses are of finished runs only, nats per token.
struct SummaryRow {
  std::string arm;
  std::vector<SweepValue> sweep;
  std::vector<RunOutcome> runs;
  Spread loss;
  Spread bits_per_byte;
  Spread repeated_names;
  Spread elsewhere;
  Spread repeated_names_bits;  // per byte
  Spread elsewhere_bits;
  Spread seconds;  // in updates
  Spread tokens_per_s;
  int64_t tokens = 0;  // the most of the seeds
  int64_t parameters = 0;

  std::string status() const;  // "3 finished", "2 finished, 1 diverged"
};

/// One row for each arm and point, in the study's order.
std::vector<SummaryRow> summarise(const Study& study, const std::vector<RunOutcome>& outcomes);

/// The rows as an aligned table for a terminal.
std::string terminal_table(const std::vector<SummaryRow>& rows);

/// Whether the comparison is fair: data, windows, order, tokens, size, budget, arms in which several things change,
/// machines and programs. Sentences that ask for caution start with "NOT", then the alarms of the runs with "ALARM".
std::vector<std::string> fairness(const Study& study, const std::vector<RunOutcome>& outcomes);

/// Writes report.md, results.csv (a line a row) and runs.csv (a line a run). Errors: std::system_error.
void write_report(const std::filesystem::path& folder, const Study& study, const std::vector<RunOutcome>& outcomes);

}  // namespace blockzoo
