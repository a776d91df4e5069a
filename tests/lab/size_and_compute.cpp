#include "lab/size_and_compute.h"

#include "support/catch.h"
#include "support/tiny_run.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("The report says parameters, operations and matches with their conventions, a line for each point",
          "[lab][report][matching][torch]") {
  Study study;
  std::vector<RunOutcome> outcomes;
  for (const std::string arm : {"base", "wide", "lost"}) {
    for (const int64_t seed : {0, 1}) {
      PlannedRun run{.arm = arm,
                     .sweep = {{"train.optimizer.lr", "1e-3"}},
                     .seed = seed,
                     .folder = arm + "/seed" + std::to_string(seed),
                     .config = tiny_run(),
                     .differences = {}};
      if (arm == "wide")
        run.match =
            Match{.by = MatchBy::kParameters, .key = "model.width", .value = 17, .target = 4096, .reached = 4098};
      RunOutcome outcome{.folder = run.folder, .record = {}};
      if (arm != "lost") {
        outcome.record.parameters = 5000;
        outcome.record.parameters_by_part = {{"embedding", 4000}, {"ffn", 1000}};
      }
      if (arm == "base") outcome.record.training_flops = 2.5e12;
      outcome.record.tokens = 640;
      outcome.record.train_s = 2.0 + static_cast<double>(seed);
      study.runs.push_back(std::move(run));
      outcomes.push_back(std::move(outcome));
    }
  }
  const auto text = size_and_compute(study, outcomes);
  CHECK_THAT(text, ContainsSubstring("3 x forward; 2 for each multiply-add of a matrix product"));
  CHECK_THAT(text, ContainsSubstring("- **base, train.optimizer.lr 1e-3**: 5000 parameters, 1000 without embeddings, "
                                     "2.5e+12 training FLOPs, 640 training tokens, 2.5 s of updates\n"));
  CHECK_THAT(text, ContainsSubstring(
                       "unknown training FLOPs, 640 training tokens, 2.5 s of updates; `model.width` 17, matched by "
                       "parameters, residue +0.05 %\n"));
  CHECK_THAT(text, ContainsSubstring("- **lost, train.optimizer.lr 1e-3**: no run began\n"));
  CHECK(std::count(text.begin(), text.end(), '*') == 3 * 4);
  CHECK(training_flops_cell({outcomes[0], outcomes[1]}) == "2500000000000");
  CHECK(training_flops_cell({outcomes[2]}) == "");
  CHECK(without_embeddings_cell({outcomes[2]}) == "1000");
  CHECK(residue_cell(study.runs[0]) == "");
  CHECK(residue_cell(study.runs[2]) == "0.00048828125");
}

}  // namespace blockzoo
