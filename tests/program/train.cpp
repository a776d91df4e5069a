#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "blockzoo/hub/checkpoint.h"
#include "blockzoo/train/record.h"
#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr auto kTiny = R"(model: {width: 16, layers: 2, context: 24, block: {attention: {heads: 2}}}
data: {corpus: {kind: stories, train_stories: 32, validation_stories: 4}, validation_windows: 8}
train: {steps: 6, batch: 4, threads: 1, log_every: 1, save_every: 2, eval_every: 3}
)";

void write_tiny(const TemporaryFolder& folder) { std::ofstream(folder / "tiny.yaml") << kTiny; }

std::string line_of(const std::string& text, const std::string& part) {
  const auto at = text.find(part);
  if (at == std::string::npos) return "";
  const auto start = text.rfind('\n', at) + 1;
  return text.substr(start, text.find('\n', at) - start);
}

}  // namespace

TEST_CASE("blockzoo train runs from any folder and prints a record that programs can read", "[program][torch]") {
  const TemporaryFolder folder;
  write_tiny(folder);
  Program program(folder.path(), {"train", "tiny.yaml", "--json", "--quiet"});
  REQUIRE(program.wait() == 0);
  const auto record = nlohmann::json::parse(program.out());
  CHECK(record["status"] == "finished");
  CHECK(record["step"] == 6);
  CHECK(record["build"]["libtorch"].get<std::string>().size() > 3);
  CHECK(program.error().empty());
  CHECK(std::filesystem::exists(folder / "runs" / "tiny" / "run.json"));
}

TEST_CASE("A run that SIGTERM stopped leaves 'interrupted' and exit code 143, and resumes to the same end",
          "[program][torch]") {
  const TemporaryFolder folder;
  write_tiny(folder);
  const auto signal = GENERATE(SIGTERM, SIGINT);
  const std::vector<std::string> arguments{"train", "tiny.yaml",          "--set", "train.steps=400",
                                           "--set", "train.save_every=0", "--out", "cut"};
  {
    Program program(folder.path(), arguments);
    REQUIRE(eventually([&] {
      return std::filesystem::exists(folder / "cut" / "metrics.jsonl") &&
             std::filesystem::file_size(folder / "cut" / "metrics.jsonl") > 400;
    }));
    program.send(signal);
    CHECK(program.wait() == 128 + signal);
    CHECK_THAT(program.out(), Catch::Matchers::ContainsSubstring("the same command with --resume goes on from step"));
  }
  const auto stopped = read_record(folder / "cut");
  CHECK(stopped.status == RunStatus::kInterrupted);
  CHECK(stopped.step > 0);
  CHECK(stopped.step < 400);
  CHECK(list_checkpoints(folder / "cut" / "checkpoints").front().filename() == checkpoint_name(stopped.step));
  auto resume = arguments;
  resume.push_back("--resume");
  CHECK(Program(folder.path(), resume).wait() == 0);
  auto straight = arguments;
  straight.back() = "straight";
  CHECK(Program(folder.path(), straight).wait() == 0);
  const auto a = read_record(folder / "cut"), b = read_record(folder / "straight");
  CHECK(a.validation->loss == b.validation->loss);
  CHECK(a.batches_hash == b.batches_hash);
}

TEST_CASE("kill -9 at any moment loses no more than the steps since the last checkpoint", "[program][slow][torch]") {
  const TemporaryFolder folder;
  write_tiny(folder);
  const std::vector<std::string> arguments{
      "train", "tiny.yaml", "--set", "train.steps=60", "--set", "train.save_every=1", "--out", "killed", "--resume"};
  int64_t best = 0;
  for (int round = 0; round < 12; ++round) {
    Program program(folder.path(), arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(350 + 37 * round));
    program.send(SIGKILL);
    program.wait();
    const auto found = load_newest_checkpoint(folder / "killed" / "checkpoints");
    if (!found) continue;
    CHECK(found->refused.empty());
    CHECK(found->checkpoint.step >= best);
    best = found->checkpoint.step;
  }
  CHECK(Program(folder.path(), arguments).wait() == 0);
  auto straight = arguments;
  straight[7] = "straight";
  CHECK(Program(folder.path(), straight).wait() == 0);
  CHECK(read_record(folder / "killed").validation->loss == read_record(folder / "straight").validation->loss);
}

TEST_CASE("Bad input is one clear sentence, exit code 2, and nothing is written", "[program][error][torch]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "bad.yaml") << "model: {widht: 16}\ntrain: {steps: 0}\n";
  Program program(folder.path(), {"train", "bad.yaml"});
  CHECK(program.wait() == 2);
  const auto error = program.error();
  CHECK_THAT(line_of(error, "widht"),
             ContainsSubstring("bad.yaml:1: model.widht: no such key") && ContainsSubstring("did you mean 'width'?"));
  CHECK_THAT(line_of(error, "steps"), ContainsSubstring("bad.yaml:2: train.steps: is 0; must be a number above 0"));
  CHECK(std::count(error.begin(), error.end(), '\n') == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST_CASE("A missing file, a wrong override and a missing corpus are each named", "[program][error][torch]") {
  const TemporaryFolder folder;
  write_tiny(folder);
  Program missing(folder.path(), {"train", "nowhere.yaml"});
  CHECK(missing.wait() == 2);
  CHECK_THAT(missing.error(), ContainsSubstring("nowhere.yaml: cannot be read: No such file or directory"));
  Program wrong(folder.path(), {"train", "tiny.yaml", "--set", "train.stepz=3"});
  CHECK(wrong.wait() == 2);
  CHECK_THAT(wrong.error(), ContainsSubstring("--set train.stepz=3") && ContainsSubstring("did you mean 'steps'?"));
  Program corpus(folder.path(), {"train", "tiny.yaml", "--set", "data.corpus={kind: text, path: no.txt}"});
  CHECK(corpus.wait() == 1);
  CHECK_THAT(corpus.error(), ContainsSubstring("no.txt") && !ContainsSubstring("terminate"));
}

TEST_CASE("A second process on a run's folder is refused, naming folder and holder", "[program][torch]") {
  const TemporaryFolder folder;
  write_tiny(folder);
  const std::vector<std::string> arguments{"train", "tiny.yaml", "--set",   "train.steps=100000",
                                           "--out", "run",       "--resume"};
  Program first(folder.path(), arguments);
  REQUIRE(eventually([&] { return std::filesystem::exists(folder / "run" / "metrics.jsonl"); }));
  const TemporaryFolder elsewhere;
  auto same = arguments;
  same[1] = (folder / "tiny.yaml").string();
  same[5] = (folder / "run").string();
  Program second(elsewhere.path(), same);
  CHECK(second.wait() == 1);
  CHECK_THAT(second.error(), ContainsSubstring((folder / "run").string()));
}

TEST_CASE("A diverged run has exit code 3", "[program][torch]") {
  const TemporaryFolder folder;
  write_tiny(folder);
  Program program(folder.path(), {"train", "tiny.yaml", "--set", "train.optimizer.lr=1e30", "--set", "train.clip=0",
                                  "--set", "model.block.norm={kind: none}"});
  CHECK(program.wait() == 3);
  CHECK_THAT(program.out() + program.error(), ContainsSubstring("diverged at step"));
}

TEST_CASE("--help shows examples and --version names LibTorch, compiler and commit", "[program][torch]") {
  const TemporaryFolder folder;
  Program help(folder.path(), {"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), ContainsSubstring("Examples:") && ContainsSubstring("ablate"));
  Program version(folder.path(), {"--version"});
  CHECK(version.wait() == 0);
  CHECK_THAT(version.out(), ContainsSubstring("LibTorch 2.") && ContainsSubstring("commit"));
}

TEST_CASE("A config reads the same in a locale whose numbers have decimal commas", "[program][torch]") {
  const TemporaryFolder folder;
  write_tiny(folder);
  const std::vector<std::string> arguments{"train",  "tiny.yaml", "--set", "train.optimizer.lr=1.5e-3",
                                           "--json", "--quiet"};
  Program plain(folder.path(), arguments);
  CHECK(plain.wait() == 0);
  const auto identity = nlohmann::json::parse(plain.out())["identity"];
  std::filesystem::remove_all(folder / "runs");
  Program german(folder.path(), arguments, {"LC_ALL=de_DE.UTF-8"});
  CHECK(german.wait() == 0);
  CHECK(nlohmann::json::parse(german.out())["identity"] == identity);
}

}  // namespace blockzoo
