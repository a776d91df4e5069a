#include "blockzoo/lab/report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "blockzoo/core/build_info.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/lab/effect.h"
#include "blockzoo/lab/verdict.h"
#include "lab/factorial.h"
#include "lab/parts.h"
#include "lab/report_samples.h"
#include "lab/size_and_compute.h"
#include "lab/sweep.h"
#include "lab/table_text.h"
#include "lab/verdict_words.h"

namespace blockzoo {
namespace {

std::string shown(const Spread& spread) {
  if (spread.count == 0) return "-";
  if (!spread.deviation) return fmt::format("{:.4f} (one seed)", spread.mean);
  return fmt::format("{:.4f} +- {:.4f}", spread.mean, *spread.deviation);
}

const std::vector<std::string>& columns() {
  static const std::vector<std::string> names = {"arm",
                                                 "sweep",
                                                 "validation, nats per token",
                                                 "bits per byte",
                                                 "on repeated names",
                                                 "elsewhere",
                                                 "parameters",
                                                 "tokens/s",
                                                 "status"};
  return names;
}

/// Nats per token are left out where tokenizers differ, since the rows would not compare.
std::vector<std::string> cells(const SummaryRow& row, Measure measure) {
  return {row.arm,
          row.sweep.empty() ? "-" : in_words(row.sweep),
          measure == Measure::kNatsPerToken ? shown(row.loss) : "-",
          measure == Measure::kBitsPerByte ? shown(row.bits_per_byte)
          : row.bits_per_byte.count        ? fmt::format("{:.4f}", row.bits_per_byte.mean)
                                           : "-",
          shown(row.repeated_names_bits),
          shown(row.elsewhere_bits),
          row.parameters > 0 ? std::to_string(row.parameters) : "-",
          row.tokens_per_s.count ? fmt::format("{:.0f}", row.tokens_per_s.mean) : "-",
          row.status()};
}

std::string results_csv(const std::vector<SummaryRow>& rows) {
  std::vector<std::string> head{"arm"};
  if (!rows.empty()) {
    for (const auto& value : rows.front().sweep) head.push_back(value.path);
  }
  const std::vector<std::string> figures = {"seeds",
                                            "finished",
                                            "loss_nats_mean",
                                            "loss_nats_sd",
                                            "bits_per_byte_mean",
                                            "bits_per_byte_sd",
                                            "repeated_names_nats_mean",
                                            "repeated_names_nats_sd",
                                            "elsewhere_nats_mean",
                                            "elsewhere_nats_sd",
                                            "repeated_names_bits_per_byte_mean",
                                            "repeated_names_bits_per_byte_sd",
                                            "elsewhere_bits_per_byte_mean",
                                            "elsewhere_bits_per_byte_sd",
                                            "parameters",
                                            "parameters_without_embeddings",
                                            "training_flops",
                                            "tokens",
                                            "seconds_mean",
                                            "seconds_sd",
                                            "tokens_per_s_mean",
                                            "status"};
  head.insert(head.end(), figures.begin(), figures.end());
  auto text = csv_row(head);
  for (const auto& row : rows) {
    std::vector<std::string> line{row.arm};
    for (const auto& value : row.sweep) line.push_back(value.value);
    line.push_back(std::to_string(row.runs.size()));
    line.push_back(std::to_string(row.loss.count));
    for (const auto* spread : {&row.loss, &row.bits_per_byte, &row.repeated_names, &row.elsewhere,
                               &row.repeated_names_bits, &row.elsewhere_bits}) {
      line.push_back(spread->count ? exact(spread->mean) : "");
      line.push_back(spread->deviation ? exact(*spread->deviation) : "");
    }
    line.push_back(row.parameters > 0 ? std::to_string(row.parameters) : "");
    line.push_back(without_embeddings_cell(row.runs));
    line.push_back(training_flops_cell(row.runs));
    line.push_back(row.tokens > 0 ? std::to_string(row.tokens) : "");
    line.push_back(row.seconds.count ? exact(row.seconds.mean) : "");
    line.push_back(row.seconds.deviation ? exact(*row.seconds.deviation) : "");
    line.push_back(row.tokens_per_s.count ? exact(row.tokens_per_s.mean) : "");
    line.push_back(row.status());
    text += csv_row(line);
  }
  return text;
}

std::string runs_csv(const Study& study, const std::vector<RunOutcome>& outcomes) {
  auto text = csv_row({"folder",
                       "arm",
                       "seed",
                       "identity",
                       "status",
                       "step",
                       "tokens",
                       "loss_nats",
                       "best_loss_nats",
                       "best_step",
                       "first_loss_nats",
                       "parameters",
                       "parameters_without_embeddings",
                       "training_flops",
                       "match_residue",
                       "train_s",
                       "tokens_per_s",
                       "data_hash",
                       "batches_hash",
                       "machine",
                       "built_with",
                       "message"});
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const auto& run = study.runs[i];
    const auto& record = outcomes[i].record;
    const auto known = [&](const auto& value) { return record.begun() ? fmt::format("{}", value) : ""; };
    text += csv_row({run.folder.generic_string(),
                     run.arm,
                     std::to_string(run.seed),
                     record.identity,
                     std::string(name_of(record.status)),
                     known(record.step),
                     known(record.tokens),
                     record.validation ? exact(record.validation->loss) : "",
                     record.best_validation ? exact(record.best_validation->loss) : "",
                     record.best_validation ? std::to_string(record.best_step) : "",
                     record.step > 0 ? exact(record.first_loss) : "",
                     known(record.parameters),
                     without_embeddings_cell({outcomes[i]}),
                     training_flops_cell({outcomes[i]}),
                     residue_cell(run),
                     known(record.train_s),
                     record.step > 0 ? exact(record.tokens_per_s()) : "",
                     record.data_hash,
                     record.batches_hash,
                     record.machine,
                     record.built_with(),
                     record.message});
  }
  return text;
}

std::string arm_differences(const Study& study) {
  std::string text;
  std::set<std::string> seen;
  for (const auto& run : study.runs) {
    if (!seen.insert(run.arm).second) continue;
    std::string list;
    for (const auto& [path, before, after] : run.differences) {
      const bool swept =
          std::any_of(run.sweep.begin(), run.sweep.end(), [&, &path = path](const auto& s) { return s.path == path; });
      if (!swept) list += fmt::format("\n  - `{}`: {} instead of {}", path, after, before);
    }
    text += fmt::format("- **{}**{}\n", run.arm, list.empty() ? ": the base itself" : list);
  }
  return text;
}

std::string report_markdown(const Study& study, const std::vector<RunOutcome>& outcomes,
                            const std::vector<SummaryRow>& rows, const std::vector<Effect>& effects) {
  auto text = fmt::format("# {}\n\n", study.name);
  if (!study.question.empty()) text += study.question + "\n\n";
  const auto judgement = judge(study, outcomes);
  text += "## Verdict\n\n";
  for (const auto& sentence : judgement.sentences) text += "- " + sentence + "\n";
  text += "\n## Results\n\n";
  text +=
      "Loss on the validation windows after the last step: mean over the seeds that finished, +- their sample standard "
      "deviation. Bits per byte: of all bytes, of those of names that were said before in the window, and of all "
      "others.\n";
  text += "Where an arm has one seed there is no spread, and a difference to it may be noise.\n\n";
  text += markdown_row(columns()) + markdown_row(std::vector<std::string>(columns().size(), "---"));
  for (const auto& row : rows) text += markdown_row(cells(row, judgement.measure));
  text += comparisons_markdown(judgement) + parts_markdown(judgement) + factorial_markdown(judgement.factorial);
  text += samples_markdown(rows);
  text += "\n## What differs from the base\n\n" + arm_differences(study);
  text += "\n## Size and compute\n\n" + size_and_compute(study, outcomes);
  if (!effects.empty())
    text += "\n## Does what differs act?\n\nAgainst the base, from the same seed, before and in the first update:\n\n";
  for (const auto& effect : effects) text += fmt::format("- **{}**: {}\n", effect.arm, effect.in_words());
  text += "\n## Was it fair?\n\n";
  for (const auto& sentence : fairness(study, outcomes)) text += "- " + sentence + "\n";
  std::string troubles;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].record.message.empty())
      troubles += fmt::format("- {}: {}\n", study.runs[i].title(), outcomes[i].record.message);
  }
  if (!troubles.empty()) text += "\n## Runs that did not finish\n\n" + troubles;
  const auto& build = build_info();
  text += fmt::format(
      "\nMade by blockzoo {} (commit {}, {}, LibTorch {}). Every run's folder has its config.yaml, run.json, "
      "metrics.jsonl and\ncheckpoints; runs.csv lists them.\n",
      build.version, build.commit, build.compiler, build.libtorch);
  return text;
}

}  // namespace

std::string SummaryRow::status() const {
  std::map<RunStatus, int> counts;
  for (const auto& run : runs) ++counts[run.record.status];
  std::string text;
  for (const auto& [status, name] : names(RunStatus{})) {
    if (counts.count(status)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[status], name);
  }
  return text;
}

std::vector<SummaryRow> summarise(const Study& study, const std::vector<RunOutcome>& outcomes) {
  std::vector<SummaryRow> rows;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const auto& run = study.runs[i];
    const bool fresh =
        rows.empty() || rows.back().runs.front().folder.parent_path() != outcomes[i].folder.parent_path();
    if (fresh) rows.push_back({.arm = run.arm, .sweep = run.sweep});
    rows.back().runs.push_back(outcomes[i]);
  }
  for (auto& row : rows) {
    std::vector<double> loss, bits, repeated, elsewhere, repeated_bits, elsewhere_bits, seconds, speed;
    for (const auto& [folder, record, skipped] : row.runs) {
      row.parameters = std::max(row.parameters, record.parameters);
      if (record.status != RunStatus::kFinished || !record.validation) continue;
      loss.push_back(record.validation->loss);
      if (record.validation->bits_per_byte) bits.push_back(*record.validation->bits_per_byte);
      if (record.validation->repeated_names) repeated.push_back(*record.validation->repeated_names);
      if (record.validation->elsewhere) elsewhere.push_back(*record.validation->elsewhere);
      if (const auto part = record.validation->bits_per_byte_of(record.validation->repeated_names))
        repeated_bits.push_back(*part);
      if (const auto part = record.validation->bits_per_byte_of(record.validation->elsewhere))
        elsewhere_bits.push_back(*part);
      row.tokens = std::max(row.tokens, record.tokens);
      seconds.push_back(record.train_s);
      speed.push_back(record.tokens_per_s());
    }
    row.loss = spread_of(loss);
    row.bits_per_byte = spread_of(bits);
    row.repeated_names = spread_of(repeated);
    row.elsewhere = spread_of(elsewhere);
    row.repeated_names_bits = spread_of(repeated_bits);
    row.elsewhere_bits = spread_of(elsewhere_bits);
    row.seconds = spread_of(seconds);
    row.tokens_per_s = spread_of(speed);
  }
  return rows;
}

std::string terminal_table(const std::vector<SummaryRow>& rows) {
  std::vector<std::vector<std::string>> lines{columns()};
  std::vector<RunOutcome> outcomes;
  for (const auto& row : rows) outcomes.insert(outcomes.end(), row.runs.begin(), row.runs.end());
  for (const auto& row : rows) lines.push_back(cells(row, measure_of(outcomes)));
  std::vector<size_t> widths(columns().size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i) row += fmt::format("{:<{}}  ", line[i], widths[i]);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
    if (&line == &lines.front()) text += std::string(row.size(), '-') + "\n";
  }
  return text;
}

void write_report(const std::filesystem::path& folder, const Study& study, const std::vector<RunOutcome>& outcomes) {
  const auto rows = summarise(study, outcomes);
  write_file(folder / "report.md", report_markdown(study, outcomes, rows, read_effects(folder)));
  write_file(folder / "results.csv", results_csv(rows));
  write_file(folder / "runs.csv", runs_csv(study, outcomes));
  const auto judgement = judge(study, outcomes);
  write_file(folder / "comparisons.csv", comparisons_csv(judgement));
  if (!judgement.by_part.empty()) write_file(folder / "parts.csv", parts_csv(judgement));
  if (!study.factors.empty()) write_file(folder / "factorial.csv", factorial_csv(judgement.factorial));
}

}  // namespace blockzoo
