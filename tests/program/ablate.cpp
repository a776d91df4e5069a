#include <fstream>
#include <nlohmann/json.hpp>

#include "blockzoo/train/record.h"
#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Four arms: one is fine, one diverges, one fails since its data is missing, one has another layout.
constexpr auto kStudy = R"(question: What happens?
base:
  model: {width: 16, layers: 2, context: 24, block: {attention: {heads: 2}}}
  data: {corpus: {kind: stories, train_stories: 32, validation_stories: 4}, validation_windows: 8}
  train: {steps: 6, batch: 4, clip: 0}
arms:
  fine: {}
  wild: {train: {optimizer: {lr: 1e30}}, model: {block: {norm: {kind: none}}}}
  lost: {data: {corpus: {kind: text, path: nowhere.txt}}}
  post: {model: {block: {layout: {kind: post_norm}}}}
seeds: [0, 1]
)";

std::map<std::string, int> statuses(const nlohmann::json& answer) {
  std::map<std::string, int> counts;
  for (const auto& run : answer["runs"])
    ++counts[run["arm"].get<std::string>() + " " + run["record"]["status"].get<std::string>()];
  return counts;
}

}  // namespace

TEST_CASE("A study goes on past arms that diverge and fail, reports both, and exits with 3", "[program][torch]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "study.yaml") << kStudy;
  Program program(folder.path(), {"ablate", "study.yaml", "--json", "--jobs", "2"});
  CHECK(program.wait() == 3);
  const auto answer = nlohmann::json::parse(program.out());
  CHECK(statuses(answer) == std::map<std::string, int>{
                                {"fine finished", 2}, {"lost failed", 2}, {"post finished", 2}, {"wild diverged", 2}});
  CHECK_THAT(answer["runs"][4]["record"]["message"].get<std::string>(), ContainsSubstring("nowhere.txt"));
  const auto report = read_file(folder / "runs" / "study" / "report.md");
  CHECK_THAT(report, ContainsSubstring("NOT one change: arm wild differs from the base in model.block.norm, "
                                       "model.final_norm and in train.optimizer.lr too"));
  CHECK_THAT(report,
             ContainsSubstring("What happens?") && ContainsSubstring("2 diverged") && ContainsSubstring("2 failed"));
  CHECK(std::filesystem::exists(folder / "runs" / "study" / "results.csv"));
}

TEST_CASE("Finished and diverged runs are skipped the second time; a failed one is tried again", "[program][torch]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "study.yaml") << kStudy;
  Program first(folder.path(), {"ablate", "study.yaml"});
  CHECK(first.wait() == 3);
  const auto record = folder / "runs" / "study" / "fine" / "seed0" / "run.json";
  const auto before = read_file(record);
  std::ofstream(folder / "nowhere.txt") << std::string(5000, 'a') << std::string(5000, 'b');
  Program second(folder.path(), {"ablate", "study.yaml"});
  CHECK(second.wait() == 0);
  CHECK_THAT(second.error(), ContainsSubstring("8 runs, 6 done already"));
  CHECK(read_file(record) == before);
}

TEST_CASE("A run of another config is set aside, not mixed in and not lost", "[program][torch]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "study.yaml") << kStudy;
  Program first(folder.path(), {"ablate", "study.yaml", "--quiet"});
  first.wait();
  const auto run = folder / "runs" / "study" / "fine" / "seed0";
  const auto old = read_record(run).identity;
  Program second(folder.path(), {"ablate", "study.yaml", "--quiet", "--set", "train.steps=7"});
  second.wait();
  CHECK(read_record(run).steps == 7);
  CHECK(read_record(run.string() + ".was-" + old.substr(0, 8)).steps == 6);
}

TEST_CASE("Stopping a study stops its runs, keeps what is done, and the next call goes on", "[program][torch]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "study.yaml") << kStudy;
  const std::vector<std::string> arguments{"ablate", "study.yaml", "--jobs", "2", "--set", "train.steps=3000"};
  {
    Program program(folder.path(), arguments);
    REQUIRE(eventually(
        [&] { return std::filesystem::exists(folder / "runs" / "study" / "fine" / "seed1" / "metrics.jsonl"); }));
    program.send(SIGINT);
    CHECK(program.wait() == 130);
    CHECK_THAT(program.error(), ContainsSubstring("stopping"));
  }
  const auto stopped = read_record(folder / "runs" / "study" / "fine" / "seed1");
  CHECK(stopped.status == RunStatus::kInterrupted);
  CHECK(stopped.step < 3000);
}

TEST_CASE("A run that a signal kills is failed, and the others finish", "[program][torch]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "study.yaml") << kStudy;
  Program program(folder.path(), {"ablate", "study.yaml", "--jobs", "1", "--set", "train.steps=150", "--json"});
  const auto lock = folder / "runs" / "study" / "fine" / "seed0" / "lock";
  const auto metrics = folder / "runs" / "study" / "fine" / "seed0" / "metrics.jsonl";
  REQUIRE(eventually([&] { return std::filesystem::exists(metrics); }));
  std::ifstream holder(lock);
  std::string text((std::istreambuf_iterator<char>(holder)), {});
  const auto digits = text.find_first_of("0123456789");
  REQUIRE(digits != std::string::npos);
  kill(static_cast<pid_t>(std::stol(text.substr(digits))), SIGKILL);
  CHECK(program.wait() == 3);
  const auto answer = nlohmann::json::parse(program.out());
  CHECK(answer["runs"][0]["record"]["status"] == "failed");
  CHECK_THAT(answer["runs"][0]["record"]["message"].get<std::string>(), ContainsSubstring("signal 9"));
  CHECK(answer["runs"][1]["record"]["status"] == "finished");
}

TEST_CASE("A dry run shows every run and what differs, and writes nothing", "[program][torch]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "study.yaml")
      << R"(base: {model: {width: 16, layers: 2, context: 24, block: {attention: {heads: 2}}}, train: {batch: 2}}
arms: {pre: {}, post: {model: {block: {layout: {kind: post_norm}}}}, both: {model: {layers: 3}, train: {batch: 4}}}
seeds: [3, 4]
)";
  Program program(folder.path(), {"ablate", "study.yaml", "--dry-run"});
  CHECK(program.wait() == 0);
  CHECK_THAT(program.out(),
             ContainsSubstring("model.block.layout: {kind: post_norm} instead of {kind: pre_norm}") &&
                 ContainsSubstring("\npost, seeds 3, 4\n  folder post, about ") &&
                 ContainsSubstring("NOT one change: arm both differs from the base in model.layers and in "
                                   "train.batch too") &&
                 ContainsSubstring("times the base's FLOPs") && ContainsSubstring("in all"));
  CHECK_FALSE(std::filesystem::exists(folder / "runs"));
}

}  // namespace blockzoo
