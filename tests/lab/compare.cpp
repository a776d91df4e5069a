#include "blockzoo/lab/compare.h"

#include <cmath>
#include <vector>

#include "blockzoo/train/run.h"
#include "support/catch.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A sparkline spans its range, takes means and leaves gaps", "[lab][compare][torch]") {
  CHECK(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8}, 0, 8, 9) == "▁▂▃▄▅▆▇██");
  CHECK(sparkline(std::vector<double>{0, 8, 8, 8}, 0, 8, 2) == "▅█");
  CHECK(sparkline(std::vector<double>{0, std::nan(""), 8}, 0, 8, 3) == "▁ █");
  CHECK(sparkline(std::vector<double>{5, 5}, 5, 5, 60) == "▁▁");
  CHECK(sparkline(std::vector<double>{}, 0, 1, 60).empty());
}

TEST_CASE("Two runs are compared by curve, end, hashes and config", "[lab][compare][torch]") {
  const TemporaryFolder folder;
  auto config = tiny_run();
  run_training(config, {.folder = folder / "a", .talk = Talk::kQuiet});
  config.model.block.layout = PostNormConfig{};
  config.data.seed = 1;
  run_training(config, {.folder = folder / "b", .talk = Talk::kQuiet});
  const auto text = compare_runs(folder / "a", folder / "b");
  CHECK_THAT(text, ContainsSubstring("training loss by step"));
  CHECK_THAT(text, ContainsSubstring("A  finished at step 8 of 8"));
  CHECK_THAT(text, ContainsSubstring("same data (by hash)") && ContainsSubstring("NOT the same batches"));
  CHECK_THAT(text, ContainsSubstring("model.block.layout: {kind: pre_norm} and {kind: post_norm}"));
  CHECK_THAT(text, ContainsSubstring("data.seed: 0 and 1"));
  CHECK_THAT(compare_runs(folder / "a", folder / "a"), ContainsSubstring("the configs are the same"));
  CHECK_THROWS_AS(compare_runs(folder / "a", folder / "nothing"), std::runtime_error);
}

}  // namespace blockzoo
