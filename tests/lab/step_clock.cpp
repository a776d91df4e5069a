#include "blockzoo/lab/step_clock.h"

#include "blockzoo/lab/study.h"
#include "support/catch.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A kind of run is timed once, and rates and steps do not make another kind", "[lab][clock][torch]") {
  const StepClock clock;
  auto run = tiny_run();
  const double first = clock(run);
  CHECK(first > 0);
  run.train.steps = 100;
  std::get<AdamwConfig>(run.train.optimizer).lr = 0.5;
  run.seed = 7;
  CHECK(clock(run) == first);
  run.model.layers = 3;
  const double deeper = clock(run);
  CHECK(deeper > 0);
  CHECK(deeper != first);
  CHECK(clock(run) == deeper);
}

TEST_CASE("What was timed is kept in the study's folder", "[lab][clock][torch]") {
  const TemporaryFolder folder;
  auto deep = tiny_run();
  deep.model.layers = 3;
  const StepClock clock;
  const double first = clock(tiny_run()), other = clock(deep);
  clock.write(folder.path());
  StepClock again;
  again.read(folder.path());
  CHECK(again(tiny_run()) == first);
  CHECK(again(deep) == other);
  StepClock fresh;
  fresh.read(folder / "nowhere");
  CHECK(fresh(tiny_run()) > 0);
}

TEST_CASE("A match by wall clock sets the steps by the ratio of the times", "[lab][clock][matching][torch]") {
  const TemporaryFolder folder;
  const auto file = folder.write("s.yaml", R"(
base: {model: {width: 32, layers: 2, context: 32}, train: {steps: 300, schedule: {kind: constant, warmup: 0}}}
arms:
  shallow: {}
  deep: {model: {layers: 5}}
  other_data: {data: {corpus: {kind: stories, seed: 3}}}
match: {by: wall_clock}
sweep: {train.optimizer.lr: [1e-3, 1e-2]}
)");
  const auto seconds = [](const RunConfig& config) { return 0.010 + 0.001 * static_cast<double>(config.model.layers); };
  const auto study = load_study(file, {}, seconds);
  REQUIRE(study.runs.size() == 6);
  for (const auto& run : study.runs) {
    const int64_t steps = run.arm == "deep" ? 240 : 300;  // 300 * 0.012 s / 0.015 s
    CHECK(run.config.train.steps == steps);
    CHECK(run.match.has_value() == (run.arm != "shallow"));
  }
  const auto& match = *study.runs[2].match;
  CHECK(match.by == MatchBy::kWallClock);
  CHECK(match.target == Approx(3.6));
  CHECK(match.reached == Approx(3.6));
  CHECK_THAT(describe(match), ContainsSubstring("matched by wall_clock"));
}

}  // namespace blockzoo
