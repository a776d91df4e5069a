#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>

#include "blockzoo/core/names.h"
#include "blockzoo/lab/report.h"
#include "blockzoo/lab/studied_keys.h"

namespace blockzoo {
namespace {

struct FinishedRun {
  const PlannedRun* plan;
  const RunRecord* record;
};

std::vector<FinishedRun> finished_runs(const Study& study, const std::vector<RunOutcome>& outcomes) {
  std::vector<FinishedRun> runs;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].record.status == RunStatus::kFinished) runs.push_back({&study.runs[i], &outcomes[i].record});
  }
  return runs;
}

std::string same_or_not(bool same, const std::string& what) { return (same ? "same " : "NOT the same ") + what; }

/// Every value that the runs have of something, once.
template <class Of>
auto values(const std::vector<FinishedRun>& runs, const Of& of) {
  std::set<std::decay_t<decltype(of(*runs.front().record))>> found;
  for (const auto& run : runs) found.insert(of(*run.record));
  return found;
}

bool same_order_at_each_seed(const std::vector<FinishedRun>& runs) {
  std::map<int64_t, std::set<std::string>> orders;
  for (const auto& run : runs) orders[run.plan->seed].insert(run.record->batches_hash);
  return std::all_of(orders.begin(), orders.end(), [](const auto& entry) { return entry.second.size() == 1; });
}

/// Runs that stop earlier see the first of the same batches, which a hash of all of them cannot show.
std::string order_sentence(const std::vector<FinishedRun>& runs) {
  const auto tokens = values(runs, [](const RunRecord& record) { return record.tokens; });
  return same_or_not(same_order_at_each_seed(runs),
                     std::string("batches in the same order for every arm at each seed (by hash)") +
                         (tokens.size() > 1 ? ", since not all trained equally long" : ""));
}

std::string why_tokens_differ(const std::vector<FinishedRun>& runs) {
  for (const auto& run : runs) {
    const auto& match = run.plan->match;
    if (match && (match->by == MatchBy::kFlops || match->by == MatchBy::kWallClock))
      return fmt::format(", which is what a match by {} asks for", name_of(match->by));
  }
  return "";
}

/// What a match by wall clock came to; the times before the first run are only a forecast.
std::string clock_sentence(const std::vector<FinishedRun>& runs) {
  const bool matched = std::any_of(runs.begin(), runs.end(), [](const FinishedRun& run) {
    return run.plan->match && run.plan->match->by == MatchBy::kWallClock;
  });
  if (!matched) return "";
  const auto seconds = values(runs, [](const RunRecord& record) { return record.train_s; });
  return fmt::format(
      "matched by wall clock as timed before the first run; the updates of a run then took {:.3g} to {:.3g} s",
      *seconds.begin(), *seconds.rbegin());
}

/// With different tokenizers, data, windows and batches cannot be the same by hash.
std::vector<std::string> what_is_the_same_text(const std::vector<FinishedRun>& runs, bool same_text) {
  const auto tokens = values(runs, [](const RunRecord& record) { return record.tokens; });
  const auto parameters = values(runs, [](const RunRecord& record) { return record.parameters; });
  return {
      same_or_not(same_text,
                  fmt::format("training and validation text in all {} finished runs (by hash)", runs.size())),
      "NOT the same tokenizer: a window, a batch and the training tokens are different lengths of text for each, and "
      "only bits "
      "per byte compare",
      same_or_not(tokens.size() == 1, tokens.size() == 1 ? fmt::format("number of training tokens, {}", *tokens.begin())
                                                         : "number of training tokens" + why_tokens_differ(runs)),
      parameters.size() == 1
          ? fmt::format("same number of parameters, {}", *parameters.begin())
          : fmt::format("NOT the same number of parameters: {} to {}", *parameters.begin(), *parameters.rbegin())};
}

std::vector<std::string> what_is_the_same(const std::vector<FinishedRun>& runs) {
  const auto data = values(runs, [](const RunRecord& record) { return record.data_hash; });
  const auto windows = values(runs, [](const RunRecord& record) { return record.validation_hash; });
  const auto tokens = values(runs, [](const RunRecord& record) { return record.tokens; });
  const auto parameters = values(runs, [](const RunRecord& record) { return record.parameters; });
  const auto text = values(runs, [](const RunRecord& record) { return record.text_hash; });
  if (values(runs, [](const RunRecord& record) { return record.tokenizer; }).size() > 1)
    return what_is_the_same_text(runs, text.size() == 1 && !text.begin()->empty());
  return {
      same_or_not(data.size() == 1,
                  fmt::format("training and validation data in all {} finished runs (by hash)", runs.size())),
      same_or_not(windows.size() == 1, "validation windows (by hash)"), order_sentence(runs),
      same_or_not(tokens.size() == 1, tokens.size() == 1 ? fmt::format("number of training tokens, {}", *tokens.begin())
                                                         : "number of training tokens" + why_tokens_differ(runs)),
      parameters.size() == 1
          ? fmt::format("same number of parameters, {}", *parameters.begin())
          : fmt::format("NOT the same number of parameters: {} to {}", *parameters.begin(), *parameters.rbegin())};
}

/// Runs whose tokens are more than one step's away from what the study's budget gives every run.
std::string budget_sentence(const Study& study, const std::vector<FinishedRun>& runs) {
  const auto budget = *study.budget.tokens;
  std::string off;
  for (const auto& [plan, record] : runs) {
    const auto of_step = record->tokens / std::max<int64_t>(record->step, 1);
    if (std::abs(record->tokens - budget) > of_step)
      off += fmt::format("{} {} trained on {}", off.empty() ? ":" : ",", plan->title(), record->tokens);
  }
  if (off.empty())
    return fmt::format("same budget of {} training tokens in every finished run, to within one step", budget);
  return fmt::format("NOT the budget of {} training tokens to within one step{}", budget, off);
}

std::string entropy_sentence(const std::vector<FinishedRun>& runs) {
  std::set<std::string> bounds;
  for (const auto& run : runs) {
    if (run.record->entropy_bound_nats) bounds.insert(fmt::format("{:.4f}", *run.record->entropy_bound_nats));
  }
  if (bounds.empty()) return "";
  const auto range = *bounds.begin() + (bounds.size() > 1 ? " to " + *bounds.rbegin() : "");
  return fmt::format(
      "the generated text holds {} nats per validation token, the least loss that a model which has not seen it can "
      "expect",
      range);
}

/// Where the runs have more than one of something, which is not known of older ones: how many have which.
template <class Of>
std::string several(const std::vector<FinishedRun>& runs, const std::string& what, const Of& of) {
  std::map<std::string, int64_t> counts;
  for (const auto& run : runs) {
    if (const auto value = of(*run.record); !value.empty()) ++counts[value];
  }
  if (counts.size() < 2) return "";
  std::string text;
  for (const auto& [value, count] : counts)
    text += fmt::format("{}{} ({} run{})", text.empty() ? "" : " / ", value, count, count == 1 ? "" : "s");
  return fmt::format("NOT the same {}: {}", what, text);
}

}  // namespace

std::vector<std::string> fairness(const Study& study, const std::vector<RunOutcome>& outcomes) {
  const auto runs = finished_runs(study, outcomes);
  auto sentences = runs.empty() ? std::vector<std::string>{"no run finished, so there is nothing to compare"}
                                : what_is_the_same(runs);
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) sentences.push_back(sentence);
  };
  add(clock_sentence(runs));
  if (study.budget.tokens && !runs.empty()) add(budget_sentence(study, runs));
  for (const auto& sentence : mixed_changes(study)) add(sentence);
  add(several(runs, "machine, so tokens/s do not compare", [](const RunRecord& record) { return record.machine; }));
  add(several(runs, "program, so tokens/s and last digits may differ",
              [](const RunRecord& record) { return record.built_with(); }));
  add(entropy_sentence(runs));
  std::map<std::string, int64_t> alarms;
  for (const auto& outcome : outcomes) {
    for (const auto& alarm : outcome.record.alarms) ++alarms[alarm];
  }
  for (const auto& [alarm, count] : alarms) add(fmt::format("ALARM in {} runs: {}", count, alarm));
  return sentences;
}

}  // namespace blockzoo
