#include "blockzoo/train/run.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/checkpoint.h"
#include "blockzoo/hub/weights.h"
#include "support/catch.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

RunOptions options(const std::filesystem::path& folder, Existing existing = Existing::kRefuse) {
  return {.folder = folder, .existing = existing, .talk = Talk::kQuiet};
}

/// metrics.jsonl without the fields that depend on the clock.
std::vector<nlohmann::json> metrics(const std::filesystem::path& folder) {
  std::istringstream text(read_file(folder / "metrics.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) {
    auto json = nlohmann::json::parse(line);
    json.erase("seconds");
    json.erase("tokens_per_s");
    lines.push_back(std::move(json));
  }
  return lines;
}

RunConfig eventful_run() {
  auto config = tiny_run();
  config.model.block.dropout = 0.1;
  config.train.eval_every = 3;
  config.train.save_every = 2;
  config.train.keep = 10;
  return config;
}

/// Takes a folder back to what a run that was killed right after the checkpoint of `step` and two more steps left.
void cut_back(const std::filesystem::path& folder, int64_t step) {
  for (const auto& path : list_checkpoints(folder / "checkpoints")) {
    if (path.filename() > checkpoint_name(step)) std::filesystem::remove_all(path);
  }
  auto record = read_record(folder);
  record.status = RunStatus::kRunning;
  write_record(folder, record);
}

}  // namespace

TEST_CASE("A run leaves its config, record, metrics and checkpoint", "[train][run][torch]") {
  const TemporaryFolder folder;
  const auto record = run_training(tiny_run(), options(folder / "run"));
  CHECK(record.status == RunStatus::kFinished);
  CHECK(record.step == 8);
  CHECK(record.tokens == 8 * 4 * 24);
  CHECK(record.validation);
  CHECK(record.best_validation);
  CHECK(metrics(folder / "run").size() == 9);
  CHECK(list_checkpoints(folder / "run" / "checkpoints").size() == 1);
  const auto read_back = read_record(folder / "run");
  CHECK(to_json(read_back) == to_json(record));
  const auto config = load_run_config(folder / "run" / "config.yaml");
  CHECK(identity(config) == record.identity);
  CHECK(write_yaml(to_document(config)) == read_file(folder / "run" / "config.yaml"));
}

TEST_CASE("A sample changes nothing but the record, and depends on the seed", "[train][run][torch]") {
  const TemporaryFolder folder;
  auto config = tiny_run();
  const auto plain = run_training(config, options(folder / "plain"));
  CHECK_FALSE(plain.sample);
  config.train.sample = TextSample{.prompt = "Once", .tokens = 12, .temperature = 1};
  const auto sampled = run_training(config, options(folder / "sampled"));
  CHECK(sampled.identity == plain.identity);
  CHECK(metrics(folder / "sampled") == metrics(folder / "plain"));
  REQUIRE(sampled.sample);
  CHECK(sampled.sample->prompt == "Once");
  CHECK(sampled.sample->tokens == 12);
  CHECK_FALSE(sampled.sample->text.empty());
  CHECK(to_json(read_record(folder / "sampled")) == to_json(sampled));
  CHECK(run_training(config, options(folder / "again")).sample->text == sampled.sample->text);

  config.train.sample = TextSample{.prompt = std::string(100, 'x')};  // longer than the context
  const auto none = run_training(config, options(folder / "none"));
  CHECK(none.status == RunStatus::kFinished);
  CHECK_FALSE(none.sample);
  REQUIRE_FALSE(none.alarms.empty());
  CHECK(none.alarms.back().starts_with("no sample was written: "));
}

TEST_CASE("A run that was cut off and resumed equals one that was not, bit for bit", "[train][run][torch]") {
  const TemporaryFolder folder;
  const auto straight = run_training(eventful_run(), options(folder / "straight"));
  run_training(eventful_run(), options(folder / "cut"));
  cut_back(folder / "cut", GENERATE(2, 4, 6));
  const auto resumed = run_training(eventful_run(), options(folder / "cut", Existing::kResume));
  CHECK(resumed.status == RunStatus::kFinished);
  CHECK(metrics(folder / "cut") == metrics(folder / "straight"));
  CHECK(resumed.batches_hash == straight.batches_hash);
  CHECK(resumed.tokens == 8 * 4 * 24);
  CHECK(resumed.alarms == straight.alarms);
  CHECK(resumed.best_step == straight.best_step);
  CHECK(resumed.validation->loss == straight.validation->loss);
  const auto name = checkpoint_name(8);
  for (const auto* file : {"weights.safetensors", "optimizer.safetensors"})
    CHECK(read_file(folder / "cut" / "checkpoints" / name / file) ==
          read_file(folder / "straight" / "checkpoints" / name / file));
}

TEST_CASE("A torn newest checkpoint is passed over for the one before", "[train][run][torch]") {
  const TemporaryFolder folder;
  run_training(eventful_run(), options(folder / "run"));
  const auto expected = metrics(folder / "run");
  cut_back(folder / "run", 6);
  std::filesystem::resize_file(folder / "run" / "checkpoints" / checkpoint_name(6) / "weights.safetensors", 100);
  const auto record = run_training(eventful_run(), options(folder / "run", Existing::kResume));
  CHECK(record.status == RunStatus::kFinished);
  CHECK(metrics(folder / "run") == expected);
}

TEST_CASE("A run that starts from weights may have any first loss", "[train][run][alarms][torch]") {
  const TemporaryFolder folder;
  auto config = tiny_run();
  Model model(config.model);
  model->init_parameters(0);
  {
    const at::NoGradGuard no_grad;
    for (auto& parameter : model->parameters()) parameter.mul_(20);
  }
  save_weights(*model, folder / "large.safetensors");
  config.start = WeightsStart{.path = folder / "large.safetensors"};
  const auto record = run_training(config, options(folder / "run"));
  CHECK(record.first_loss > 1.25 * std::log(256.0));
  CHECK(record.alarms.empty());
}

TEST_CASE("A run is known by the content of the weights that it starts from", "[train][run][config][torch]") {
  const TemporaryFolder folder;
  auto config = tiny_run();
  const auto start_from = [&](const std::string& file, uint64_t seed) {
    Model model(config.model);
    model->init_parameters(seed);
    save_weights(*model, folder / file);
    config.start = WeightsStart{.path = folder / file};
    return identity(config);
  };
  const auto first = start_from("a.safetensors", 0);
  CHECK(start_from("b.safetensors", 0) == first);
  CHECK(start_from("a.safetensors", 1) != first);
  config.start = WeightsStart{.path = folder / "none.safetensors"};
  CHECK_THROWS_WITH(identity(config), Catch::Matchers::ContainsSubstring("none.safetensors"));
}

TEST_CASE("A run whose tokens do not add up to its plan finishes with an alarm", "[train][run][alarms][torch]") {
  const TemporaryFolder folder;
  CHECK(run_training(eventful_run(), options(folder / "run")).alarms.empty());
  cut_back(folder / "run", 6);
  const auto checkpoints = folder / "run" / "checkpoints";
  auto checkpoint = load_newest_checkpoint(checkpoints, identity(eventful_run()))->checkpoint;
  auto state = nlohmann::json::parse(checkpoint.state_json);
  REQUIRE(state["record"]["tokens"] == 6 * 4 * 24);
  state["record"]["tokens"] = 5 * 4 * 24;  // as if a batch had been lost
  checkpoint.state_json = state.dump();
  std::filesystem::remove_all(checkpoints);
  std::filesystem::create_directory(checkpoints);
  save_checkpoint(checkpoints, checkpoint, 1);
  const auto record = run_training(eventful_run(), options(folder / "run", Existing::kResume));
  CHECK(record.status == RunStatus::kFinished);
  CHECK(record.alarms == std::vector<std::string>{"the run trained on 672 tokens, and its config plans 768"});
}

TEST_CASE("The generated text's entropy bound is in the record, and no trained model's loss is below it",
          "[train][run][entropy][torch]") {
  const TemporaryFolder folder;
  auto config = tiny_run();
  config.data.validation_windows = 0;
  const auto record = run_training(config, options(folder / "run"));
  REQUIRE(record.entropy_bound_nats);
  CHECK(*record.entropy_bound_nats > 0.1);
  CHECK(*record.entropy_bound_nats < 0.17);
  CHECK(record.validation->loss > *record.entropy_bound_nats);
  CHECK(read_record(folder / "run").entropy_bound_nats == record.entropy_bound_nats);
}

TEST_CASE("A finished run is not run again, and not written over", "[train][run][torch]") {
  const TemporaryFolder folder;
  const auto first = run_training(tiny_run(), options(folder / "run"));
  CHECK_THROWS_WITH(run_training(tiny_run(), options(folder / "run")),
                    Catch::Matchers::ContainsSubstring("holds a run already"));
  const auto again = run_training(tiny_run(), options(folder / "run", Existing::kResume));
  CHECK(to_json(again) == to_json(first));
}

TEST_CASE("Resuming with another config is refused and changes nothing", "[train][run][error][torch]") {
  const TemporaryFolder folder;
  run_training(tiny_run(), options(folder / "run"));
  const auto before = read_file(folder / "run" / "run.json");
  auto other = tiny_run();
  other.model.layers = 3;
  CHECK_THROWS_WITH(run_training(other, options(folder / "run", Existing::kResume)),
                    Catch::Matchers::ContainsSubstring("another config"));
  CHECK(read_file(folder / "run" / "run.json") == before);
}

TEST_CASE("A diverging run says at which step, and its last checkpoint stays good", "[train][run][torch]") {
  const TemporaryFolder folder;
  auto config = tiny_run();
  config.train.save_every = 1;
  config.train.steps = 60;
  config.train.clip = 0;
  config.train.divergence_nats = 0.5;
  config.model.final_norm = NoNormConfig{};
  config.model.block.norm = NoNormConfig{};
  std::get<AdamwConfig>(config.train.optimizer).lr = 1e8;
  const auto record = run_training(config, options(folder / "run"));
  CHECK(record.status == RunStatus::kDiverged);
  CHECK_THAT(record.message, Catch::Matchers::ContainsSubstring("diverged at step"));
  CHECK(record.step < 60);
  const auto found = load_newest_checkpoint(folder / "run" / "checkpoints", record.identity);
  REQUIRE(found);
  for (const auto& [name, tensor] : found->checkpoint.weights) CHECK(tensor.isfinite().all().item<bool>());
  for (const auto& line : metrics(folder / "run")) CHECK(line.contains("step"));
}

TEST_CASE("An error ends a run as failed, with its reason in the record", "[train][run][error][torch]") {
  const TemporaryFolder folder;
  run_training(eventful_run(), options(folder / "run"));
  cut_back(folder / "run", 4);
  for (const auto& path : list_checkpoints(folder / "run" / "checkpoints"))
    std::filesystem::resize_file(path / "state.json", 3);
  CHECK_THROWS(run_training(eventful_run(), options(folder / "run", Existing::kResume)));
  const auto record = read_record(folder / "run");
  CHECK(record.status == RunStatus::kFailed);
  CHECK_FALSE(record.message.empty());
}

TEST_CASE("What is only said more or less often does not change a run's identity; everything else does",
          "[train][run][torch]") {
  const auto config = tiny_run();
  auto often = config;
  often.train.log_every = 3;
  often.train.save_every = 1;
  often.train.keep = 7;
  often.train.threads = 2;
  CHECK(identity(often) == identity(config));
  auto seeded = config;
  seeded.seed = 1;
  auto warm = config;
  warm.train.schedule = ConstantSchedule{.warmup = 1};
  CHECK(identity(seeded) != identity(config));
  CHECK(identity(warm) != identity(config));
}

TEST_CASE("An auto value and what it stands for are one identity", "[train][run][torch]") {
  const auto config = tiny_run();
  auto spelled = config;
  std::get<SoftmaxAttentionConfig>(spelled.model.block.attention).head_width = 8;
  std::get<GluConfig>(spelled.model.block.ffn).hidden = 42;
  CHECK(identity(spelled) == identity(config));
}

}  // namespace blockzoo
