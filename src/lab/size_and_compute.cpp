#include "lab/size_and_compute.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "blockzoo/nn/flops.h"

namespace blockzoo {
namespace {

/// The largest that a run has of something; nothing at all without runs.
template <class Of>
auto most(const std::vector<RunOutcome>& runs, const Of& of) {
  decltype(of(runs.front().record)) largest{};
  for (const auto& run : runs) largest = std::max(largest, of(run.record));
  return largest;
}

std::optional<double> most_training_flops(const std::vector<RunOutcome>& runs) {
  return most(runs, [](const RunRecord& record) { return record.training_flops; });
}

int64_t most_parameters(const std::vector<RunOutcome>& runs) {
  return most(runs, [](const RunRecord& record) { return record.parameters; });
}

int64_t most_without_embeddings(const std::vector<RunOutcome>& runs) {
  return most(runs, [](const RunRecord& record) { return without_embeddings(record.parameters_by_part); });
}

int64_t most_tokens(const std::vector<RunOutcome>& runs) {
  return most(runs, [](const RunRecord& record) { return record.tokens; });
}

double mean_seconds(const std::vector<RunOutcome>& runs) {
  double sum = 0;
  for (const auto& run : runs) sum += run.record.train_s;
  return sum / static_cast<double>(runs.size());
}

std::string line(const PlannedRun& run, const std::vector<RunOutcome>& runs) {
  const auto flops = most_training_flops(runs);
  auto text = fmt::format("- **{}**: ", run.setting());
  if (most_parameters(runs) == 0) return text + "no run began\n";
  text +=
      fmt::format("{} parameters, {} without embeddings, {} training FLOPs, {} training tokens, {:.3g} s of updates",
                  most_parameters(runs), most_without_embeddings(runs),
                  flops ? fmt::format("{:.4g}", *flops) : "unknown", most_tokens(runs), mean_seconds(runs));
  if (run.match) text += fmt::format("; `{}` {}, {}", run.match->key, run.match->value, describe(*run.match));
  return text + "\n";
}

}  // namespace

std::string size_and_compute(const Study& study, const std::vector<RunOutcome>& outcomes) {
  auto text = fmt::format(
      "Training FLOPs of a run: {}. Without embeddings: neither token table nor learned positions nor head. A residue "
      "is arm / base - 1; by "
      "wall clock it is that of the times before the first run. Seconds of updates are means over the seeds.\n\n",
      kTrainingFlopsConvention);
  for (size_t first = 0; first < outcomes.size();) {
    const auto folder = study.runs[first].folder.parent_path();
    std::vector<RunOutcome> runs;
    size_t next = first;
    for (; next < outcomes.size() && study.runs[next].folder.parent_path() == folder; ++next)
      runs.push_back(outcomes[next]);
    text += line(study.runs[first], runs);
    first = next;
  }
  return text;
}

std::string training_flops_cell(const std::vector<RunOutcome>& runs) {
  const auto most = most_training_flops(runs);
  return most ? fmt::format("{}", *most) : "";
}

std::string without_embeddings_cell(const std::vector<RunOutcome>& runs) {
  return most_parameters(runs) > 0 ? std::to_string(most_without_embeddings(runs)) : "";
}

std::string residue_cell(const PlannedRun& run) { return run.match ? fmt::format("{}", run.match->residue()) : ""; }

}  // namespace blockzoo
