#include "blockzoo/lab/report_page.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "blockzoo/core/embedded.h"
#include "blockzoo/hub/run_lock.h"
#include "lab/report_data.h"
#include "support/catch.h"
#include "support/source_file.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A plan of one arm with two seeds; nothing has run.
constexpr auto kPlan = R"({"schema": 1, "name": "plan", "question": "Is </script><!-- \u2028 safe?", "machine": "M",
  "base": "seed: 0\n", "runs": [
  {"folder": "a/seed0", "arm": "a", "seed": 0, "identity": "i0", "sweep": {"train.optimizer.lr": "1e-3"}, "differences": []},
  {"folder": "a/seed1", "arm": "a", "seed": 1, "identity": "i1", "sweep": {"train.optimizer.lr": "1e-3"},
   "differences": [{"path": "model.width", "base": "8", "here": "16"}]}]})";

RunRecord record_of(const std::string& identity, RunStatus status) {
  RunRecord record;
  record.identity = identity;
  record.status = status;
  record.steps = 10;
  record.first_loss = std::nan("");
  return record;
}

nlohmann::json data_of(const TemporaryFolder& folder) {
  return nlohmann::json::parse(report_data(read_study_folder(folder.path())));
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++found;
  return found;
}

}  // namespace

TEST_CASE("A folder without a plan, and a plan that is broken, are named", "[lab][page][torch]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(read_study_folder(folder.path()), ContainsSubstring("has no study.json"));
  folder.write("study.json", "{\"schema\": 1,");
  CHECK_THROWS_WITH(read_study_folder(folder.path()), ContainsSubstring("study.json is not a study's plan"));
  folder.write("study.json", "{\"schema\": 9}");
  CHECK_THROWS_WITH(read_study_folder(folder.path()), ContainsSubstring("schema 9; this program reads 1"));
}

TEST_CASE("What has not run has a status and no numbers, not even zeros", "[lab][page][torch]") {
  const TemporaryFolder folder;
  folder.write("study.json", kPlan);
  const auto data = data_of(folder);
  for (const auto& run : data["runs"]) {
    CHECK(run["status"] == "not started");
    CHECK_FALSE((run.contains("step") || run.contains("loss_nats") || run.contains("parameters")));
  }
  const auto& row = data["rows"][0];
  CHECK(row["finished"] == 0);
  CHECK((row["loss_nats"]["mean"].is_null() && row["tokens_per_s"]["mean"].is_null() && row["parameters"].is_null()));
  CHECK(row["curves"]["training"]["steps"].empty());
}

TEST_CASE("A run whose process is gone is interrupted, a broken record is said, another config's run does not count",
          "[lab][page][torch]") {
  const TemporaryFolder folder;
  folder.write("study.json", kPlan);
  folder.write("a/seed0/run.json", to_json(record_of("i0", RunStatus::kRunning)));
  folder.write("a/seed0/metrics.jsonl", "{\"step\":3,\"loss\":null,\"tokens\":30}\n");
  folder.write("a/seed1/run.json", "{\"sch");
  auto found = read_study_folder(folder.path());
  CHECK(found.outcomes[0].record.status == RunStatus::kInterrupted);
  CHECK(found.traces[0].has_record);
  CHECK_FALSE(found.traces[1].has_record);
  CHECK(found.outcomes[1].record.status == RunStatus::kFailed);
  CHECK_THAT(found.outcomes[1].record.message, ContainsSubstring("is not a run's record"));
  const auto data = data_of(folder);
  CHECK(data["runs"][0]["step"] == 3);
  CHECK(data["rows"][0]["curves"]["training"]["loss"][0][0].is_null());
  folder.write("a/seed0/run.json", to_json(record_of("other", RunStatus::kFinished)));
  CHECK_THAT(read_study_folder(folder.path()).outcomes[0].record.message, ContainsSubstring("another config"));
}

TEST_CASE("How an arm was matched is read back from the plan", "[lab][page][torch]") {
  const TemporaryFolder folder;
  std::string plan = kPlan;
  const std::string seed = R"("seed": 0, )";
  plan.insert(plan.find(seed), R"("match": {"by": "flops", "key": "model.block.ffn.hidden", "value": 24,
    "target": 100, "reached": 101, "key_matters": true}, )");
  folder.write("study.json", plan);
  const auto match = read_study_folder(folder.path()).study.runs[0].match;
  REQUIRE(match);
  CHECK((match->by == MatchBy::kFlops && match->value == 24 && match->reached == 101 && match->key_matters));
  CHECK_THAT(data_of(folder)["rows"][0]["match"].get<std::string>(),
             ContainsSubstring("model.block.ffn.hidden 24, matched by flops, residue"));
}

TEST_CASE("A run whose process is alive is running", "[lab][page][torch]") {
  const TemporaryFolder folder;
  folder.write("study.json", kPlan);
  folder.write("a/seed0/run.json", to_json(record_of("i0", RunStatus::kRunning)));
  const RunLock lock(folder / "a/seed0");
  CHECK(read_study_folder(folder.path()).outcomes[0].record.status == RunStatus::kRunning);
}

TEST_CASE("Seeds share their steps, and a long curve is thinned", "[lab][page][torch]") {
  const TemporaryFolder folder;
  folder.write("study.json", kPlan);
  for (const int seed : {0, 1}) {
    const auto run = "a/seed" + std::to_string(seed);
    folder.write(run + "/run.json", to_json(record_of("i" + std::to_string(seed), RunStatus::kFinished)));
    std::string lines;
    for (int step = 1; step <= 3000 - 1000 * seed; ++step)
      lines += R"({"step":)" + std::to_string(step) + R"(,"tokens":)" + std::to_string(8 * step) + R"(,"loss":)" +
               (step == 1777 ? "99.5" : "1.23456789") + R"(,"gradient_norm":1,"gradient_norms":{"head":)" +
               std::to_string(seed + 1) + "}}\n";
    folder.write(run + "/metrics.jsonl", lines);
  }
  const auto curves = data_of(folder)["rows"][0]["curves"];
  const auto& training = curves["training"];
  const auto size = training["steps"].size();
  CHECK(curves["logged"] == 3000);
  CHECK((size > 100 && size <= 502));
  CHECK(training["steps"].back() == 3000);
  CHECK(training["tokens"].back() == 24000);
  REQUIRE(training["loss"].size() == 2);
  CHECK(training["loss"][0].size() == size);
  CHECK(training["loss"][0][0] == 1.23457);
  CHECK(training["loss"][1].back().is_null());
  CHECK(training["loss"][1].dump().find("99.5") != std::string::npos);
  CHECK(curves["layers"]["head"].front() == 1.5);
  CHECK(curves["layers"]["head"].back() == 1);
}

TEST_CASE("The page is one file that holds its libraries, and text of the study cannot leave its place",
          "[lab][page][torch]") {
  const TemporaryFolder folder;
  folder.write("study.json", kPlan);
  const auto page = report_page(read_study_folder(folder.path()));
  const auto source = source_file("assets/report/page.html");
  CHECK(count(page, "</script>") == count(source, "</script>"));
  CHECK_THAT(page, ContainsSubstring("Is \\u003c/script>\\u003c!-- \\u2028 safe?"));
  CHECK_THAT(page, ContainsSubstring("dygraphs") && ContainsSubstring("Chart.js v"));
  CHECK(count(source, " src=") == 0);
  CHECK(count(source, "{{") == embedded_page().size() + 1);
}

}  // namespace blockzoo
