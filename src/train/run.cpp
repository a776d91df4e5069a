#include "blockzoo/train/run.h"

#include <ATen/Parallel.h>
#include <sched.h>
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "blockzoo/core/hash.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/checkpoint.h"
#include "blockzoo/hub/run_lock.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/flops.h"
#include "blockzoo/text/tokenizer_contents.h"
#include "blockzoo/train/probe.h"
#include "blockzoo/train/stop.h"
#include "train/alarms.h"
#include "train/machine.h"

namespace blockzoo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kStepsAboveStart = 10;  // as TrainConfig says

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One run from its folder's lock to its last record.
class Run {
 public:
  Run(const RunConfig& config, const RunOptions& options)
      : config_(resolved(config)),
        folder_(options.folder),
        flops_of_step_(training_flops(config.model, config.train.batch)),
        progress_(config.train.steps, options.talk),
        session_(config_) {
    record_.identity = identity(config);
    record_.seed = config.seed;
    record_.steps = config.train.steps;
    record_.device = session_.device().str();
    record_.machine = machine();
    record_.build = build_info();
    record_.kernels = describe(config.train.kernels);
    record_.threads = at::get_num_threads();
    record_.started = utc_now();
    record_.data_hash = hex(session_.corpus().hash);
    if (const auto& hash = session_.corpus().text_hash) record_.text_hash = hex(*hash);
    if (const auto& hash = session_.corpus().tokenizer_hash) record_.tokenizer = hex(*hash);
    record_.validation_hash = hex(session_.validation_hash());
    record_.entropy_bound_nats = session_.validation_windows().entropy_bound();
    const auto count = count_parameters(config.model);
    record_.parameters = count.total;
    record_.parameters_by_part = count.by_part;
  }

  /// Puts the session back where its newest checkpoint was; false when there is none.
  bool resume() {
    auto found = load_newest_checkpoint(checkpoints(), record_.identity);
    if (!found) return false;
    for (const auto& reason : found->refused) progress_.note("passed over: " + reason);
    auto& checkpoint = found->checkpoint;
    const auto state = nlohmann::json::parse(checkpoint.state_json);
    const auto before = record_from_json(state.at("record").dump());
    if (before.data_hash != record_.data_hash)
      throw std::runtime_error(found->path.string() + ": the data has changed since this checkpoint was saved");
    load_weights(*session_.model(), checkpoint.weights, found->path.string());
    session_.optimizer().load_state(checkpoint.optimizer);
    session_.set_steps_done(checkpoint.step);
    saved_step_ = checkpoint.step;
    session_.set_batches_hash(state.at("batches_hash"));
    session_.set_tokens_seen(before.tokens);
    above_start_ = state.at("above_start");
    metrics_.emplace(folder_ / "metrics.jsonl", state.at("metrics_bytes").get<uint64_t>());
    record_.started = before.started;
    if (!before.machine.empty() && !before.machine.ends_with(record_.machine))
      record_.machine = before.machine + "; then " + record_.machine;
    record_.alarms = before.alarms;
    record_.train_s = before.train_s;
    record_.first_loss = before.first_loss;
    record_.first_gradient_norms = before.first_gradient_norms;
    record_.validation = before.validation;
    record_.best_validation = before.best_validation;
    record_.best_step = before.best_step;
    progress_.note(fmt::format("resumed at step {} from {}", checkpoint.step, found->path.string()));
    return true;
  }

  void start_fresh() {
    std::filesystem::remove_all(checkpoints());
    std::filesystem::remove(folder_ / "metrics.jsonl");
    write_file(folder_ / "config.yaml", write_yaml(to_document(config_)));
    keep_tokenizer();
    metrics_.emplace(folder_ / "metrics.jsonl");
    record_.first_gradient_norms = session_.first_gradient_norms();
    if (config_.train.probe_every > 0) look_inside();
    if (const auto alarm = overlap_alarm(session_); !alarm.empty()) raise(alarm);
    write_record();
  }

  RunRecord train() {
    progress_.note(fmt::format("{} parameters, {} tokens a step, {} threads on {}", record_.parameters, tokens_of(1),
                               record_.threads, record_.device));
    while (session_.steps_done() < config_.train.steps && stop_signal() == 0) {
      if (!advance()) return end(RunStatus::kDiverged);
      const auto step = session_.steps_done();
      const bool last = step == config_.train.steps;
      if (last || due(config_.train.eval_every, step)) validate();
      if (config_.train.probe_every > 0 && (last || due(config_.train.probe_every, step))) look_inside();
      if (last || due(config_.train.save_every, step) || stop_signal() != 0) save();
    }
    if (session_.steps_done() == config_.train.steps) {
      const auto alarm = tokens_alarm(session_.tokens_seen(), tokens_of(config_.train.steps));
      if (!alarm.empty()) raise(alarm);
      take_sample();
      return end(RunStatus::kFinished);
    }
    record_.message = fmt::format("stopped by signal {} after step {}", stop_signal(), session_.steps_done());
    if (saved_step_ != session_.steps_done()) save();
    return end(RunStatus::kInterrupted);
  }

  /// Notes the reason; a disk that cannot even take the record must not hide it.
  void fail(const std::string& reason) noexcept {
    try {
      record_.message = reason;
      end(RunStatus::kFailed);
    } catch (const std::exception& error) {
      progress_.note(std::string("the record could not be written: ") + error.what());
    }
  }

 private:
  /// A copy of the tokenizer's files, so that the run is whole wherever it lies.
  void keep_tokenizer() const {
    const auto folder = folder_ / kKeptTokenizer;
    std::filesystem::remove_all(folder);
    const auto* file = tokenizer_file_of(config_.data.corpus);
    if (file == nullptr) return;
    std::filesystem::create_directories(folder);
    for (const auto& [name, contents] : tokenizer_contents(file->path)) write_file(folder / name, contents);
  }

  std::filesystem::path checkpoints() const { return folder_ / "checkpoints"; }
  static bool due(int64_t every, int64_t step) { return every > 0 && step % every == 0; }
  int64_t tokens_of(int64_t steps) const { return steps * config_.train.batch * config_.model.context; }

  /// One update; false when the run has diverged.
  bool advance() {
    const auto start = Clock::now();
    const auto step = session_.steps_done() + 1;
    const bool last = step == config_.train.steps;
    const bool logged = step == 1 || last || due(config_.train.log_every, step);
    const auto result = session_.advance(/*by_layer=*/logged);
    record_.train_s += seconds_since(start);
    ++timed_steps_;
    timed_s_ += seconds_since(start);
    if (result.step == 1) {
      record_.first_loss = result.loss;
      const auto alarm = start_alarm(result.loss, config_.model.vocabulary);
      const bool drawn = std::holds_alternative<DrawnStart>(config_.start);  // else the model may know something
      if (drawn && !alarm.empty()) raise(alarm);
    }
    if (logged || !result.finite) metrics_->append(step_line(result, session_.tokens_seen(), record_.train_s));
    const double per_step = timed_s_ / static_cast<double>(timed_steps_);
    progress_.step(result, static_cast<double>(tokens_of(1)) / per_step,
                   per_step * static_cast<double>(config_.train.steps - result.step));
    return !diverged(result);
  }

  void look_inside() { metrics_->append(probe_line(probe(session_))); }

  void raise(const std::string& alarm) {
    record_.alarms.push_back(alarm);
    progress_.note("alarm: " + alarm);
  }

  std::string below_entropy(double loss) const {
    if (!record_.entropy_bound_nats) return "";
    return entropy_alarm(loss, *record_.entropy_bound_nats, session_.validation_windows().tokens());
  }

  bool diverged(const StepResult& result) {
    if (!result.finite) {
      record_.message =
          fmt::format("diverged at step {}: loss {}, gradient norm {}", result.step, result.loss, result.gradient_norm);
      return true;
    }
    above_start_ = result.loss > record_.first_loss + config_.train.divergence_nats ? above_start_ + 1 : 0;
    if (above_start_ < kStepsAboveStart) return false;
    record_.message =
        fmt::format("diverged at step {}: loss {:.4f} has been more than {} nats above the first, {:.4f}, for {} steps",
                    result.step, result.loss, config_.train.divergence_nats, record_.first_loss, kStepsAboveStart);
    return true;
  }

  void validate() {
    const auto result = session_.evaluate();
    metrics_->append(validation_line(session_.steps_done(), result));
    progress_.validation(session_.steps_done(), result);
    record_.validation = result;
    if (const auto alarm = below_entropy(result.loss); !alarm.empty()) {
      const bool told = record_.best_validation && !below_entropy(record_.best_validation->loss).empty();
      if (!told) raise(alarm);
    }
    if (!std::isfinite(result.loss)) return;
    if (record_.best_validation && record_.best_validation->loss <= result.loss) return;
    record_.best_validation = result;
    record_.best_step = session_.steps_done();
  }

  void save() {
    metrics_->sync();
    write_record();
    const nlohmann::json state = {{"metrics_bytes", metrics_->bytes()},
                                  {"above_start", above_start_},
                                  {"batches_hash", session_.batches_hash()},
                                  {"record", nlohmann::json::parse(to_json(record_))}};
    save_checkpoint(checkpoints(),
                    {.step = session_.steps_done(),
                     .config_hash = record_.identity,
                     .config_yaml = write_yaml(to_document(config_)),
                     .state_json = state.dump(),
                     .weights = weights_of(*session_.model()),
                     .optimizer = session_.optimizer().state()},
                    config_.train.keep);
    saved_step_ = session_.steps_done();
  }

  void write_record() {
    record_.step = session_.steps_done();
    record_.tokens = session_.tokens_seen();
    record_.training_flops = flops_of_step_ * static_cast<double>(record_.step);
    record_.batches_hash = hex(session_.batches_hash());
    blockzoo::write_record(folder_, record_);
  }

  /// A model that cannot write is no reason for a run to fail.
  void take_sample() {
    const auto* wanted = std::get_if<TextSample>(&config_.train.sample);
    if (wanted == nullptr) return;
    try {
      record_.sample = draw_sample(*session_.model(), config_, *wanted);
    } catch (const std::exception& error) {
      raise(std::string("no sample was written: ") + error.what());
    }
  }

  RunRecord end(RunStatus status) {
    record_.status = status;
    if (metrics_) metrics_->sync();
    write_record();
    if (!record_.message.empty()) progress_.note(record_.message);
    return record_;
  }

  const RunConfig config_;
  const std::filesystem::path folder_;
  const double flops_of_step_;
  Progress progress_;
  Session session_;
  RunRecord record_;
  std::optional<LineWriter> metrics_;
  int64_t above_start_ = 0;  // steps in a row
  int64_t saved_step_ = -1;  // of the newest checkpoint
  int64_t timed_steps_ = 0;  // of this process
  double timed_s_ = 0;
};

}  // namespace

int64_t thread_count(std::optional<int64_t> choice) {
  if (choice) return *choice;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(1, CPU_COUNT(&allowed)) : 1;
}

RunRecord run_training(const RunConfig& config, const RunOptions& options) {
  at::set_num_threads(static_cast<int>(thread_count(config.train.threads)));
  const bool existed = std::filesystem::exists(options.folder / "run.json");
  if (existed && options.existing == Existing::kRefuse)
    throw std::runtime_error(options.folder.string() +
                             " holds a run already; --resume goes on with it, --out names another folder");
  std::filesystem::create_directories(options.folder);
  const RunLock lock(options.folder);
  if (existed && options.existing == Existing::kResume) {
    const auto before = read_record(options.folder);
    if (before.identity != identity(config))
      throw std::runtime_error(options.folder.string() + " holds a run of another config (identity " + before.identity +
                               ", this one is " + identity(config) + "); --out names another folder");
    if (before.status == RunStatus::kFinished || before.status == RunStatus::kDiverged) return before;
  }
  for (const auto& folder : {options.folder, options.folder / "checkpoints"}) {
    if (std::filesystem::exists(folder)) remove_unfinished(folder);
  }
  Run run(config, options);
  try {
    const bool resumed = existed && options.existing == Existing::kResume && run.resume();
    if (!resumed) run.start_fresh();
    return run.train();
  } catch (const std::exception& error) {
    run.fail(error.what());
    throw;
  }
}

}  // namespace blockzoo
