#include "blockzoo/lab/report.h"

#include <algorithm>
#include <cmath>

#include "blockzoo/hub/atomic_file.h"
#include "lab/report_samples.h"
#include "support/catch.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A study of two arms with two seeds each, and records with the given losses; NaN means that the run diverged.
struct MadeStudy {
  Study study;
  std::vector<RunOutcome> outcomes;
};

MadeStudy made(const std::vector<double>& losses) {
  MadeStudy result;
  result.study = {.name = "made", .question = "Which, a or b?", .base = tiny_run(), .runs = {}};
  for (size_t i = 0; i < losses.size(); ++i) {
    const std::string arm = i < losses.size() / 2 ? "a" : "b, with \"quotes\"";
    const auto seed = static_cast<int64_t>(i % (losses.size() / 2));
    PlannedRun run{.arm = arm,
                   .sweep = {{"train.optimizer.lr", "1e-3"}},
                   .seed = seed,
                   .folder = std::filesystem::path(arm) / ("seed" + std::to_string(seed)),
                   .config = tiny_run(),
                   .differences = {}};
    RunOutcome outcome{.folder = run.folder, .record = {}};
    outcome.record.status = std::isnan(losses[i]) ? RunStatus::kDiverged : RunStatus::kFinished;
    outcome.record.message = std::isnan(losses[i]) ? "diverged at step 3" : "";
    outcome.record.parameters = 100;
    outcome.record.tokens = 640;
    outcome.record.train_s = 2;
    outcome.record.data_hash = "d";
    outcome.record.validation_hash = "v";
    outcome.record.batches_hash = "order" + std::to_string(seed);
    outcome.record.validation = EvalResult{.loss = losses[i], .bits_per_byte = losses[i] / std::log(2.0)};
    result.study.runs.push_back(std::move(run));
    result.outcomes.push_back(std::move(outcome));
  }
  return result;
}

}  // namespace

TEST_CASE("Mean and sample deviation, and no deviation of one value", "[lab][report][torch]") {
  const auto spread = spread_of({1, 2, 4});
  CHECK(spread.mean == Approx(7.0 / 3));
  CHECK(*spread.deviation == Approx(1.5275252316519468));
  CHECK_FALSE(spread_of({5}).deviation);
  CHECK(spread_of({}).count == 0);
}

TEST_CASE("A row holds the seeds of one arm; diverged ones are counted and not averaged", "[lab][report][torch]") {
  const auto [study, outcomes] = made({1.0, 2.0, std::nan(""), 3.0});
  const auto rows = summarise(study, outcomes);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].loss.mean == Approx(1.5));
  CHECK(rows[0].status() == "2 finished");
  CHECK(rows[1].loss.count == 1);
  CHECK(rows[1].loss.mean == 3.0);
  CHECK(rows[1].status() == "1 finished, 1 diverged");
}

TEST_CASE("A loss of zero is a value, and a table of nothing but divergence is still made", "[lab][report][torch]") {
  const auto zero = made({0.0, 0.0});
  CHECK(summarise(zero.study, zero.outcomes)[0].loss.count == 1);
  const auto none = made({std::nan(""), std::nan("")});
  const auto table = terminal_table(summarise(none.study, none.outcomes));
  CHECK_THAT(table, ContainsSubstring("1 diverged"));
  CHECK(fairness(none.study, none.outcomes).front() == "no run finished, so there is nothing to compare");
}

TEST_CASE("Unequal data, order, tokens and parameters are each called out", "[lab][report][torch]") {
  auto [study, outcomes] = made({1.0, 2.0, 3.0, 4.0});
  const auto starts = [&study = study, &outcomes = outcomes] {
    std::string text;
    for (const auto& sentence : fairness(study, outcomes)) text += sentence.starts_with("same") ? 's' : 'N';
    return text;
  };
  CHECK(starts() == "sssss");
  outcomes[3].record.batches_hash = "another";
  CHECK(starts() == "ssNss");
  outcomes[2].record.data_hash = "another";
  outcomes[2].record.parameters = 7;
  CHECK(starts() == "NsNsN");
  outcomes[1].record.tokens = 1;
  outcomes[1].record.validation_hash = "another";
  CHECK(starts() == "NNNNN");
  outcomes[0].record.alarms = outcomes[1].record.alarms = {"the start is odd"};
  CHECK(fairness(study, outcomes).back() == "ALARM in 2 runs: the start is odd");
}

TEST_CASE("A budget that runs do not keep to within a step is called out", "[lab][report][fairness][torch]") {
  auto [study, outcomes] = made({1.0, 2.0, 3.0, 4.0});
  study.budget.tokens = 700;
  for (auto& outcome : outcomes) outcome.record.step = 8;  // 80 tokens each
  CHECK(fairness(study, outcomes).at(5) ==
        "same budget of 700 training tokens in every finished run, to within one step");
  outcomes[2].record.tokens = 560;
  CHECK_THAT(fairness(study, outcomes).at(5),
             ContainsSubstring("NOT the budget of 700 training tokens") && ContainsSubstring("seed 0 trained on 560"));
}

TEST_CASE("Runs of several machines or programs, and the entropy of generated text, are told",
          "[lab][report][fairness][torch]") {
  auto [study, outcomes] = made({1.0, 2.0, 3.0, 4.0});
  for (auto& outcome : outcomes) {
    outcome.record.machine = "M";
    outcome.record.build = {.version = "1", .commit = "c", .compiler = "G", .libtorch = "2", .build_type = "R"};
    outcome.record.entropy_bound_nats = 0.13;
  }
  CHECK(fairness(study, outcomes).size() == 6);
  CHECK(fairness(study, outcomes).at(5) ==
        "the generated text holds 0.1300 nats per validation token, the least loss that a model which has not seen it "
        "can expect");
  outcomes[3].record.machine = "N";
  outcomes[2].record.build.commit = "d";
  outcomes[1].record.entropy_bound_nats = 0.14;
  const auto sentences = fairness(study, outcomes);
  REQUIRE(sentences.size() == 8);
  CHECK(sentences[5] == "NOT the same machine, so tokens/s do not compare: M (3 runs) / N (1 run)");
  CHECK(
      sentences[6] ==
      "NOT the same program, so tokens/s and last digits may differ: blockzoo 1 (commit c, G, R, LibTorch 2) (3 runs) "
      "/ blockzoo 1 (commit d, G, R, LibTorch 2) (1 run)");
  CHECK_THAT(sentences[7], ContainsSubstring("0.1300 to 0.1400 nats"));
  outcomes[3].record.machine = "";  // an older record
  CHECK_THAT(fairness(study, outcomes)[5], ContainsSubstring("NOT the same program"));
}

TEST_CASE("An arm in which model and training change together is told beside the results",
          "[lab][report][fairness][torch]") {
  auto [study, outcomes] = made({1.0, 2.0, 3.0, 4.0});
  for (const size_t i : {2, 3})
    study.runs[i].differences = {
        {"model.layers", "2", "3"}, {"train.batch", "4", "8"}, {"train.optimizer.lr", "1", "2"}};
  CHECK_THAT(fairness(study, outcomes).at(5), ContainsSubstring("in model.layers and in train.batch too"));
  const TemporaryFolder folder;
  write_report(folder.path(), study, outcomes);
  CHECK_THAT(read_file(folder / "report.md"), ContainsSubstring("- NOT one change: arm b"));
  for (auto& outcome : outcomes) outcome.record.status = RunStatus::kDiverged;
  outcomes[0].record.alarms = {"the start is odd"};
  const auto before = fairness(study, outcomes);
  REQUIRE(before.size() == 3);
  CHECK_THAT(before[1], ContainsSubstring("NOT one change"));
  CHECK(before[2] == "ALARM in 1 runs: the start is odd");
}

TEST_CASE("The report shows what the first sampled seed of each row wrote, as it is", "[lab][report][torch]") {
  auto [study, outcomes] = made({1.0, 2.0, 3.0, 4.0});
  CHECK(samples_markdown(summarise(study, outcomes)).empty());
  for (auto& outcome : outcomes) outcome.record.seed = 1;
  outcomes[1].record.sample = Sample{.prompt = "Once", .text = " upon\n*a* time", .tokens = 5};
  outcomes[2].record.sample = Sample{.prompt = "Once", .text = " more", .tokens = 2};
  outcomes[3].record.sample = Sample{.prompt = "Once", .text = " unseen", .tokens = 2};
  const auto text = samples_markdown(summarise(study, outcomes));
  CHECK_THAT(text, ContainsSubstring("**a, lr 1e-3**, seed 1:\n\n    Once upon\n    *a* time\n"));
  CHECK_THAT(text, ContainsSubstring("    Once more\n") && !ContainsSubstring("unseen"));
}

TEST_CASE("The files hold every row, every run and the reasons of what did not finish", "[lab][report][torch]") {
  const TemporaryFolder folder;
  const auto [study, outcomes] = made({1.0, 2.0, std::nan(""), 3.25});
  write_report(folder.path(), study, outcomes);
  const auto csv = read_file(folder / "results.csv");
  CHECK_THAT(csv, ContainsSubstring("arm,train.optimizer.lr,seeds,finished,loss_nats_mean"));
  CHECK_THAT(csv, ContainsSubstring("a,1e-3,2,2,1.5,0.70710678"));
  CHECK_THAT(csv, ContainsSubstring("\"b, with \"\"quotes\"\"\",1e-3,2,1,3.25,,"));
  const auto runs = read_file(folder / "runs.csv");
  CHECK(std::count(runs.begin(), runs.end(), '\n') == 5);
  const auto report = read_file(folder / "report.md");
  CHECK_THAT(report, ContainsSubstring("Which, a or b?") && ContainsSubstring("diverged at step 3") &&
                         ContainsSubstring("3.2500 (one seed)"));
  CHECK_THAT(runs, !ContainsSubstring("nan"));
}

}  // namespace blockzoo
