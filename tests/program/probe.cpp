#include <nlohmann/json.hpp>

#include "support/near.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::vector<std::string> kTinyRun = {
    "model.width=16",          "model.layers=2",   "model.context=24",
    "train.batch=4",           "train.device=cpu", "train.steps=4",
    "train.schedule.warmup=1", "train.threads=1",  "model.block.attention.heads=2"};

/// The program with these arguments and the settings of a tiny run.
std::vector<std::string> with_settings(std::vector<std::string> arguments) {
  for (const auto& set : kTinyRun) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  return arguments;
}

}  // namespace

TEST_CASE("blockzoo probe looks into a file, into a run's checkpoints and into what a run recorded",
          "[program][probe][torch]") {
  const TemporaryFolder folder;
  Program start(folder.path(), with_settings({"probe", "models/tiny.yaml", "--json"}));
  REQUIRE(start.wait() == 0);
  const auto first = nlohmann::json::parse(start.out())["probes"];
  REQUIRE(first.size() == 1);
  CHECK(first[0]["layers"]["blocks.1"]["activation_rms"] > 0);

  Program plain(folder.path(), with_settings({"train", "models/tiny.yaml", "--out", "plain", "--quiet"}));
  REQUIRE(plain.wait() == 0);
  Program later(folder.path(), {"probe", "plain", "--json"});
  REQUIRE(later.wait() == 0);
  const auto found = nlohmann::json::parse(later.out())["probes"];
  REQUIRE(found.size() == 2);
  CHECK(found[0] == first[0]);
  CHECK(found[1]["step"] == 4);

  auto recording = with_settings({"train", "models/tiny.yaml", "--out", "recorded", "--quiet"});
  recording.insert(recording.end(), {"--set", "train.probe_every=2"});
  Program recorded(folder.path(), recording);
  REQUIRE(recorded.wait() == 0);
  Program shown(folder.path(), {"probe", "recorded", "--json"});
  REQUIRE(shown.wait() == 0);
  const auto all = nlohmann::json::parse(shown.out())["probes"];
  REQUIRE(all.size() == 3);
  CHECK(all[0] == first[0]);
  CHECK(all[2] == found[1]);
}

TEST_CASE("blockzoo probe refuses a folder that is no run, and settings for a run", "[program][probe][error][torch]") {
  const TemporaryFolder folder;
  Program none(folder.path(), {"probe", "."});
  CHECK(none.wait() == 1);
  CHECK_THAT(none.error(), ContainsSubstring("is no run's folder: it has no run.json"));
  Program set(folder.path(), {"probe", ".", "--set", "seed=1"});
  CHECK(set.wait() == 1);
  CHECK_THAT(set.error(), ContainsSubstring("--set and --scale go with a file"));
}

}  // namespace blockzoo
