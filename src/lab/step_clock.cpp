#include "blockzoo/lab/step_clock.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "blockzoo/core/hash.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/train/session.h"

namespace blockzoo {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kWarmUps = 2;
constexpr int kRounds = 15;
constexpr double kLeastRound_s = 0.05;  // long against the turns that a busy machine gives to others
constexpr const char* kFile = "step_times.json";

/// A map with nothing but its `kind`.
void keep_kind(Tree& tree) {
  std::erase_if(tree.entries, [](const Tree::Entry& entry) { return entry.key != "kind"; });
}

/// What decides how long an update takes.
std::string kind_of_run(const RunConfig& config) {
  auto train = *to_document(resolved(config)).find("train");
  for (const auto* key : {"optimizer", "schedule"}) keep_kind(train[key]);
  std::erase_if(train.entries, [](const Tree::Entry& entry) { return entry.key == "steps"; });
  return hex(hash_bytes(write_yaml(*to_document(resolved(config)).find("model")) + write_yaml(train)));
}

/// Mean of as many updates as fill a round.
double seconds_of_update(Session& session) {
  const auto start = std::chrono::steady_clock::now();
  double spent = 0;
  int updates = 0;
  for (; spent < kLeastRound_s; ++updates) {
    session.advance();
    spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return spent / updates;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void warm_up(Session& session) {
  for (int i = 0; i < kWarmUps; ++i) session.advance();
}

}  // namespace

struct StepClock::State {
  std::map<std::string, double> seconds;  // by kind of run
  std::optional<RunConfig> reference;
  std::unique_ptr<Session> reference_session;

  void time_reference() {
    warm_up(session_of_reference());
    std::vector<double> times;
    for (int i = 0; i < kRounds; ++i) times.push_back(seconds_of_update(*reference_session));
    seconds[kind_of_run(*reference)] = median(std::move(times));
  }

  void time(const RunConfig& config) {
    Session session(config);
    warm_up(session);
    warm_up(session_of_reference());
    std::vector<double> ratios;
    for (int i = 0; i < kRounds; ++i) {
      const double reference_s = seconds_of_update(*reference_session);
      ratios.push_back(seconds_of_update(session) / reference_s);
    }
    seconds[kind_of_run(config)] = median(std::move(ratios)) * seconds.at(kind_of_run(*reference));
  }

  Session& session_of_reference() {
    if (!reference_session) reference_session = std::make_unique<Session>(*reference);
    return *reference_session;
  }
};

StepClock::StepClock() : state_(std::make_shared<State>()) {}

double StepClock::operator()(const RunConfig& config) const {
  auto& state = *state_;
  if (!state.reference) state.reference = config;
  if (state.seconds.count(kind_of_run(*state.reference)) == 0) state.time_reference();
  const auto kind = kind_of_run(config);
  if (state.seconds.count(kind) == 0) state.time(config);
  return state.seconds.at(kind);
}

void StepClock::read(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / kFile)) return;
  const auto json = Json::parse(read_file(folder / kFile));
  state_->seconds = json.at("update_s").get<std::map<std::string, double>>();
}

void StepClock::write(const std::filesystem::path& folder) const {
  if (state_->seconds.empty()) return;
  write_file(folder / kFile, Json{{"update_s", state_->seconds}}.dump(2) + "\n");
}

}  // namespace blockzoo
