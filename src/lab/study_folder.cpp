#include "blockzoo/lab/study_folder.h"

#include <spdlog/fmt/fmt.h>
#include <sys/utsname.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "blockzoo/hub/atomic_file.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kSchema = 1;

Match match_from(const Json& json) {
  const std::string by = json.at("by");
  Match match{.key = json.at("key"),
              .value = json.at("value"),
              .target = json.at("target"),
              .reached = json.at("reached"),
              .key_matters = json.at("key_matters")};
  for (const auto& [value, name] : names(MatchBy{})) {
    if (name == by) match.by = value;
  }
  return match;
}

PlannedRun planned_from(const Json& entry) {
  PlannedRun run{.arm = entry.at("arm"),
                 .sweep = {},
                 .seed = entry.at("seed"),
                 .folder = entry.at("folder").get<std::string>(),
                 .config = {},
                 .differences = {}};
  for (const auto& [path, value] : entry.at("sweep").items()) run.sweep.push_back({path, value});
  for (const auto& one : entry.at("differences"))
    run.differences.push_back({one.at("path"), one.at("base"), one.at("here")});
  if (entry.contains("match")) run.match = match_from(entry.at("match"));
  return run;
}

/// Whether the process that holds the run's lock is alive, as far as this machine can tell.
bool may_be_running(const std::filesystem::path& run_folder) {
  std::string holder;
  try {
    holder = read_file(run_folder / "lock");
  } catch (const std::exception&) {
    return false;
  }
  int process = 0;
  char host[128] = "";
  if (std::sscanf(holder.c_str(), "process %d on %127s", &process, host) != 2) return false;
  struct utsname self = {};
  ::uname(&self);
  return std::string(self.nodename) != host || ::kill(process, 0) == 0 || errno == EPERM;
}

void read_run(const std::filesystem::path& folder, const std::string& planned_identity, RunOutcome& outcome,
              RunTrace& trace) {
  auto& record = outcome.record;
  outcome.folder = folder;
  record.status = RunStatus::kNotStarted;
  if (!std::filesystem::exists(folder / "run.json")) return;
  try {
    auto found = read_record(folder);
    if (found.identity != planned_identity) {
      record.message = "its folder holds a run of another config";
      return;
    }
    record = std::move(found);
  } catch (const std::exception& error) {
    record.status = RunStatus::kFailed;
    record.message = error.what();
    return;
  }
  trace.has_record = true;
  trace.history = read_history(folder);
  if (record.status != RunStatus::kRunning || may_be_running(folder)) return;
  record.status = RunStatus::kInterrupted;
  record.message = "its process ended without a word";
}

}  // namespace

StudyFolder read_study_folder(const std::filesystem::path& folder) {
  const auto path = folder / "study.json";
  if (!std::filesystem::exists(path))
    throw std::runtime_error(folder.string() + " is not the folder of a study: it has no study.json");
  const auto text = read_file(path);
  StudyFolder result{.folder = folder};
  try {
    const auto json = Json::parse(text);
    if (json.at("schema") != kSchema)
      throw std::runtime_error(fmt::format("schema {}; this program reads {}", json.at("schema").dump(), kSchema));
    result.study = {.name = json.at("name"), .question = json.at("question"), .base = {}, .runs = {}};
    if (json.contains("hypothesis") && json.at("hypothesis").is_object()) {
      const auto& expected = json.at("hypothesis");
      result.study.hypothesis = {expected.at("arm"), expected.at("better_than"), expected.at("by_at_least_nats")};
    }
    for (const auto& factor : json.value("factors", Json::array()))
      result.study.factors.push_back({factor.at("name"), factor.at("levels")});
    if (json.contains("budget_tokens")) result.study.budget.tokens = json.at("budget_tokens").get<int64_t>();
    result.base_yaml = json.value("base", "");
    result.machine = json.value("machine", "");
    for (const auto& entry : json.at("runs")) {
      const auto& run = result.study.runs.emplace_back(planned_from(entry));
      read_run(folder / run.folder, entry.at("identity"), result.outcomes.emplace_back(), result.traces.emplace_back());
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(path.string() + " is not a study's plan: " + error.what());
  }
  return result;
}

}  // namespace blockzoo
