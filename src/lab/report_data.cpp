#include "lab/report_data.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "blockzoo/core/build_info.h"
#include "blockzoo/core/names.h"
#include "blockzoo/lab/effect.h"
#include "blockzoo/lab/probe_text.h"
#include "blockzoo/lab/report.h"
#include "blockzoo/lab/verdict.h"
#include "blockzoo/nn/flops.h"
#include "lab/factorial.h"
#include "lab/report_curves.h"
#include "lab/report_probes.h"
#include "lab/size_and_compute.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<double>& value) {
  return value ? blockzoo::number_or_null(*value) : Json(nullptr);
}

Json count_or_null(int64_t count) { return count > 0 ? Json(count) : Json(nullptr); }

/// The number of a cell of results.csv; null for an empty one, and for a count of something that never began.
Json number_in(const std::string& cell) {
  double value = 0;
  std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return value > 0 ? Json(value) : Json(nullptr);
}

Json values_of(const std::vector<SweepValue>& sweep) {
  Json list = Json::array();
  for (const auto& value : sweep) list.push_back(value.value);
  return list;
}

Json to_json(const Spread& spread) {
  if (spread.count == 0) return {{"count", 0}, {"mean", nullptr}, {"sd", nullptr}};
  return {{"count", spread.count},
          {"mean", blockzoo::number_or_null(spread.mean)},
          {"sd", number_or_null(spread.deviation)}};
}

Json to_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {blockzoo::number_or_null(interval->low), blockzoo::number_or_null(interval->high)};
}

/// Spike scores of the training losses, one of each seed that has enough of them.
Spread spikes_of(std::span<const RunTrace> seeds) {
  std::vector<double> scores;
  for (const auto& seed : seeds) {
    if (const auto score = spike_score(seed.history.training.loss)) scores.push_back(*score);
  }
  return spread_of(scores);
}

/// Null where no seed looked inside.
Json probes_of_row(const StudyFolder& found, size_t first, size_t count) {
  std::vector<std::vector<Probe>> seeds;
  for (size_t i = first; i < first + count; ++i) {
    auto probes = recorded_probes(found.folder / found.study.runs[i].folder);
    if (!probes.empty()) seeds.push_back(std::move(probes));
  }
  return seeds.empty() ? Json(nullptr) : probes_of(seeds);
}

Json rows_of(const StudyFolder& found) {
  Json rows = Json::array();
  size_t first = 0;
  for (const auto& row : summarise(found.study, found.outcomes)) {
    const auto& match = found.study.runs[first].match;
    rows.push_back({{"arm", row.arm},
                    {"sweep", values_of(row.sweep)},
                    {"seeds", row.runs.size()},
                    {"finished", row.loss.count},
                    {"loss_nats", to_json(row.loss)},
                    {"bits_per_byte", to_json(row.bits_per_byte)},
                    {"repeated_names_nats", to_json(row.repeated_names)},
                    {"elsewhere_nats", to_json(row.elsewhere)},
                    {"repeated_names_bits_per_byte", to_json(row.repeated_names_bits)},
                    {"elsewhere_bits_per_byte", to_json(row.elsewhere_bits)},
                    {"parameters", count_or_null(row.parameters)},
                    {"parameters_without_embeddings", number_in(without_embeddings_cell(row.runs))},
                    {"training_flops", number_in(training_flops_cell(row.runs))},
                    {"tokens", count_or_null(row.tokens)},
                    {"seconds", to_json(row.seconds)},
                    {"tokens_per_s", to_json(row.tokens_per_s)},
                    {"spike_score", to_json(spikes_of(std::span(found.traces).subspan(first, row.runs.size())))},
                    {"status", row.status()},
                    {"match", match ? Json(match->key + " " + std::to_string(match->value) + ", " + describe(*match))
                                    : Json(nullptr)},
                    {"probes", probes_of_row(found, first, row.runs.size())},
                    {"curves", curves_of(std::span(found.traces).subspan(first, row.runs.size()))}});
    first += row.runs.size();
  }
  return rows;
}

/// Numbers of a record that was never read are left out.
Json run_of(const PlannedRun& run, const RunOutcome& outcome, const RunTrace& trace) {
  const auto& record = outcome.record;
  Json json = {{"arm", run.arm},
               {"sweep", values_of(run.sweep)},
               {"seed", run.seed},
               {"folder", run.folder.generic_string()},
               {"status", name_of(record.status)},
               {"message", record.message}};
  if (!trace.has_record) return json;
  const auto& steps = trace.history.training.steps;
  json["step"] = std::max(record.step, steps.empty() ? 0 : steps.back());
  json["steps"] = record.steps;
  json["loss_nats"] = record.validation ? blockzoo::number_or_null(record.validation->loss) : Json(nullptr);
  json["bits_per_byte"] = record.validation ? number_or_null(record.validation->bits_per_byte) : Json(nullptr);
  json["best_loss_nats"] =
      record.best_validation ? blockzoo::number_or_null(record.best_validation->loss) : Json(nullptr);
  json["best_step"] = record.best_validation ? Json(record.best_step) : Json(nullptr);
  json["parameters"] = count_or_null(record.parameters);
  json["train_s"] = record.train_s > 0 ? Json(record.train_s) : Json(nullptr);
  json["identity"] = record.identity;
  json["data_hash"] = record.data_hash;
  json["batches_hash"] = record.status == RunStatus::kFinished ? Json(record.batches_hash) : Json(nullptr);
  json["validation_hash"] = record.validation_hash;
  json["device"] = record.device;
  json["threads"] = record.threads;
  json["started"] = record.started;
  json["machine"] = record.machine;
  json["built_with"] = record.built_with();
  if (const auto& sample = record.sample) json["sample"] = {{"prompt", sample->prompt}, {"text", sample->text}};
  json["first_gradient_norms"] = Json::object();
  for (const auto& [layer, norm] : record.first_gradient_norms)
    json["first_gradient_norms"][layer] = blockzoo::number_or_null(norm);
  return json;
}

/// Each arm with what differs from the base in it; what the sweep sets is left out.
Json arms_of(const Study& study) {
  Json arms = Json::array();
  std::set<std::string> seen;
  for (const auto& run : study.runs) {
    if (!seen.insert(run.arm).second) continue;
    Json differences = Json::array();
    for (const auto& [path, before, after] : run.differences) {
      const bool swept = std::any_of(run.sweep.begin(), run.sweep.end(),
                                     [&, &path = path](const auto& one) { return one.path == path; });
      if (!swept) differences.push_back({{"path", path}, {"base", before}, {"here", after}});
    }
    arms.push_back({{"name", run.arm}, {"differences", std::move(differences)}});
  }
  return arms;
}

Json to_json(const std::optional<PairedDifference>& difference, double adjusted_p) {
  if (!difference) return nullptr;
  return {{"pairs", difference->pairs},
          {"mean", blockzoo::number_or_null(difference->mean)},
          {"interval", to_json(std::optional(difference->interval))},
          {"p", blockzoo::number_or_null(difference->p)},
          {"adjusted_p", blockzoo::number_or_null(adjusted_p)}};
}

Json to_json(const std::vector<FactorialEffect>& effects) {
  Json list = Json::array();
  for (const auto& one : effects)
    list.push_back({{"of", name_of_effect(one)},
                    {"factors", one.of.size()},
                    {"verdict", name_of(one.verdict)},
                    {"reason", one.reason},
                    {"windows", to_json(one.over_windows)},
                    {"difference", to_json(one.difference, one.adjusted_p)}});
  return list;
}

Json to_json(const std::vector<Comparison>& comparisons) {
  Json list = Json::array();
  for (const auto& one : comparisons) {
    list.push_back({{"arm", one.arm},
                    {"sweep", values_of(one.sweep)},
                    {"base_sweep", values_of(one.base_sweep)},
                    {"verdict", name_of(one.verdict)},
                    {"reason", one.reason},
                    {"windows", to_json(one.over_windows)},
                    {"difference", to_json(one.difference, one.adjusted_p)}});
  }
  return list;
}

Json to_json(const std::vector<PartComparison>& comparisons) {
  Json list = Json::array();
  for (const auto& one : comparisons)
    list.push_back({{"part", one.part},
                    {"arm", one.arm},
                    {"sweep", values_of(one.sweep)},
                    {"base_loss", to_json(one.base_loss)},
                    {"loss", to_json(one.loss)},
                    {"verdict", name_of(one.verdict)},
                    {"difference", to_json(one.difference, one.adjusted_p)}});
  return list;
}

Json to_json(const Judgement& judgement) {
  Json sensitivity = Json::object();
  for (const auto& [arm, nats] : judgement.sensitivity) sensitivity[arm] = blockzoo::number_or_null(nats);
  return {{"base", judgement.base},
          {"measure", name_of(judgement.measure)},
          {"sentences", judgement.sentences},
          {"best_against_best", to_json(judgement.best_against_best)},
          {"same_point", to_json(judgement.same_point)},
          {"by_part", to_json(judgement.by_part)},
          {"factorial", to_json(judgement.factorial)},
          {"sensitivity", std::move(sensitivity)},
          {"noise",
           {{"base", to_json(judgement.noise.base)},
            {"smallest_difference", number_or_null(judgement.noise.smallest_difference)}}}};
}

}  // namespace

std::string report_data(const StudyFolder& found) {
  const auto& build = build_info();
  Json json = {{"name", found.study.name},
               {"question", found.study.question},
               {"written", utc_now()},
               {"written_by", "blockzoo " + build.version + " (commit " + build.commit + ")"},
               {"machine", found.machine},
               {"base_yaml", found.base_yaml},
               {"curve_points", kCurvePoints},
               {"swept", Json::array()},
               {"arms", arms_of(found.study)},
               {"rows", rows_of(found)},
               {"runs", Json::array()},
               {"judgement", to_json(judge(found.study, found.outcomes))},
               {"fairness", fairness(found.study, found.outcomes)},
               {"effects", Json::object()},
               {"flops_convention", kTrainingFlopsConvention}};
  for (const auto& effect : read_effects(found.folder)) json["effects"][effect.arm] = effect.in_words();
  if (!found.study.runs.empty()) {
    for (const auto& value : found.study.runs.front().sweep) json["swept"].push_back(value.path);
  }
  for (size_t i = 0; i < found.study.runs.size(); ++i)
    json["runs"].push_back(run_of(found.study.runs[i], found.outcomes[i], found.traces[i]));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace blockzoo
