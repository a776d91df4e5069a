#include "blockzoo/lab/ablate.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "blockzoo/core/tree.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/run_lock.h"
#include "blockzoo/train/stop.h"
#include "lab/child.h"
#include "lab/points.h"
#include "train/machine.h"

namespace blockzoo {
namespace {

using Clock = std::chrono::steady_clock;

/// The last line of a log that says something.
std::string last_line(const std::filesystem::path& log) {
  std::string text;
  try {
    text = read_file(log);
  } catch (const std::exception&) {
    return "";
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

bool is_outcome(RunStatus status) { return status == RunStatus::kFinished || status == RunStatus::kDiverged; }

class Ablation {
 public:
  Ablation(const Study& study, const AblateOptions& options)
      : study_(study), options_(options), threads_(std::max<int64_t>(1, thread_count({}) / options.jobs)) {
    for (const auto& run : study.runs) outcomes_.push_back({.folder = options.folder / run.folder, .record = {}});
  }

  std::vector<RunOutcome> run() {
    write_manifest();
    skip_what_is_done();
    say(fmt::format("{} runs, {} done already, {} at a time, {} thread{} each", study_.runs.size(), done_,
                    options_.jobs, threads_, threads_ == 1 ? "" : "s"));
    while (true) {
      while (static_cast<int64_t>(running_.size()) < options_.jobs && next_ < pending_.size() && !stopping_)
        start(pending_[next_++]);
      if (running_.empty()) break;
      if (const auto end = next_end(/*wait_ms=*/200); end.pid > 0) finish(end);
      if (stop_signal() != 0) stop();
    }
    for (; next_ < pending_.size(); ++next_) {
      auto& record = outcomes_[pending_[next_]].record;
      record.status = record.begun() ? RunStatus::kInterrupted : RunStatus::kNotStarted;
    }
    return outcomes_;
  }

 private:
  void say(const std::string& text) const {
    if (options_.talk == Talk::kNormal) fmt::print(stderr, "{}\n", text);
  }

  void write_manifest() const {
    nlohmann::ordered_json json = {{"schema", 1},
                                   {"name", study_.name},
                                   {"question", study_.question},
                                   {"hypothesis", nullptr},
                                   {"machine", machine()},
                                   {"base", write_yaml(to_document(resolved(study_.base)))},
                                   {"factors", nlohmann::json::array()},
                                   {"runs", nlohmann::json::array()}};
    if (const auto& expected = study_.hypothesis; expected.stated())
      json["hypothesis"] = {{"arm", expected.arm},
                            {"better_than", expected.better_than},
                            {"by_at_least_nats", expected.by_at_least_nats}};
    if (study_.budget.tokens) json["budget_tokens"] = *study_.budget.tokens;
    for (const auto& [name, levels] : study_.factors) json["factors"].push_back({{"name", name}, {"levels", levels}});
    for (const auto& run : study_.runs) {
      nlohmann::ordered_json entry = {{"folder", run.folder.generic_string()},
                                      {"arm", run.arm},
                                      {"seed", run.seed},
                                      {"identity", identity(run.config)},
                                      {"sweep", nlohmann::ordered_json::object()},
                                      {"differences", nlohmann::json::array()}};
      for (const auto& [path, value] : run.sweep) entry["sweep"][path] = value;
      for (const auto& [path, before, after] : run.differences)
        entry["differences"].push_back({{"path", path}, {"base", before}, {"here", after}});
      if (run.match)
        entry["match"] = {{"by", name_of(run.match->by)},  {"key", run.match->key},
                          {"value", run.match->value},     {"target", run.match->target},
                          {"reached", run.match->reached}, {"key_matters", run.match->key_matters}};
      json["runs"].push_back(std::move(entry));
    }
    write_file(options_.folder / "study.json", json.dump(2) + "\n");
  }

  void skip_what_is_done() {
    for (size_t i = 0; i < study_.runs.size(); ++i) {
      auto& outcome = outcomes_[i];
      if (std::filesystem::exists(outcome.folder / "run.json")) {
        try {
          outcome.record = read_record(outcome.folder);
        } catch (const std::exception&) {
          outcome.record.identity = "unreadable";
        }
        const bool same = outcome.record.identity == identity(study_.runs[i].config);
        if (!same) set_aside(outcome.folder, outcome.record.identity);
        outcome.skipped = same && is_outcome(outcome.record.status);
      }
      if (outcome.skipped) {
        ++done_;
      } else {
        pending_.push_back(i);
      }
    }
    // The base goes first: its spread over seeds is what every arm is held against.
    std::stable_partition(pending_.begin(), pending_.end(),
                          [&, base = base_arm(study_)](size_t i) { return study_.runs[i].arm == base; });
  }

  /// What another config, or another program, left there keeps its files under another name.
  void set_aside(const std::filesystem::path& folder, const std::string& old_identity) const {
    const RunLock lock(folder);
    auto aside = folder;
    aside += ".was-" + old_identity.substr(0, 8);
    std::filesystem::remove_all(aside);
    std::filesystem::rename(folder, aside);
    say(fmt::format("{} holds another run; it is now {}", folder.string(), aside.string()));
  }

  void start(size_t index) {
    const auto& run = study_.runs[index];
    const auto& folder = outcomes_[index].folder;
    std::filesystem::create_directories(folder);
    write_file(folder / "config.yaml", write_yaml(to_document(resolved(run.config))));
    const std::vector<std::string> arguments = {options_.program.string(),
                                                "train",
                                                (folder / "config.yaml").string(),
                                                "--out",
                                                folder.string(),
                                                "--resume",
                                                "--threads",
                                                std::to_string(threads_)};
    running_[start_child(arguments, folder / "log.txt")] = {index, Clock::now()};
    say(fmt::format("run {}/{} started: {}", index + 1, study_.runs.size(), run.title()));
  }

  void finish(const ChildEnd& end) {
    const auto found = running_.find(end.pid);
    if (found == running_.end()) return;
    const auto [index, started] = found->second;
    running_.erase(found);
    ++done_;
    auto& outcome = outcomes_[index];
    take_record(outcome, end);
    const auto& record = outcome.record;
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
    say(fmt::format("run {}/{} {} in {}: {}: {}", index + 1, study_.runs.size(), name_of(record.status),
                    spoken_time(seconds), study_.runs[index].title(),
                    record.validation && record.message.empty() ? describe(*record.validation) : record.message));
    if (record.status == RunStatus::kFailed && options_.fail_fast) stop();
    trained_s_ += seconds;
    ++trained_;
    const auto left = static_cast<double>(pending_.size() - next_ + running_.size());
    if (left > 0 && !stopping_)
      say(fmt::format(
          "{} of {} done, about {} left", done_, study_.runs.size(),
          spoken_time(trained_s_ / static_cast<double>(trained_) * left / static_cast<double>(options_.jobs))));
  }

  void take_record(RunOutcome& outcome, const ChildEnd& end) const {
    try {
      outcome.record = read_record(outcome.folder);
    } catch (const std::exception&) {
      outcome.record = {};
    }
    const bool closed = outcome.record.status != RunStatus::kRunning;
    if (closed && end.signal == 0 && (end.exit_code == 0 || outcome.record.status != RunStatus::kFinished)) return;
    outcome.record.status = RunStatus::kFailed;
    outcome.record.message =
        end.signal != 0 ? fmt::format("ended by signal {} ({})", end.signal, strsignal(end.signal))
                        : fmt::format("exit code {}: {}", end.exit_code, last_line(outcome.folder / "log.txt"));
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    say(fmt::format("stopping {} runs; finished ones are kept", running_.size()));
    for (const auto& [pid, child] : running_) kill(pid, SIGTERM);
  }

  const Study& study_;
  const AblateOptions& options_;
  const int64_t threads_;
  std::vector<RunOutcome> outcomes_;
  std::vector<size_t> pending_;
  size_t next_ = 0;
  std::map<pid_t, std::pair<size_t, Clock::time_point>> running_;
  int64_t done_ = 0;
  double trained_s_ = 0;
  int64_t trained_ = 0;
  bool stopping_ = false;
};

}  // namespace

int64_t default_jobs(const Study& study) {
  return std::clamp<int64_t>(static_cast<int64_t>(study.runs.size()), 1, thread_count({}));
}

std::vector<RunOutcome> run_study(const Study& study, const AblateOptions& options) {
  std::filesystem::create_directories(options.folder);
  const RunLock lock(options.folder);
  return Ablation(study, options).run();
}

}  // namespace blockzoo
