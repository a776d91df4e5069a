#include "blockzoo/lab/tensorboard.h"

#include <cmath>

#include "blockzoo/hub/atomic_file.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {

TEST_CASE("Event files hold the bytes that TensorBoard's own writer makes", "[lab][tensorboard][torch]") {
  StudyFolder study;
  study.study.runs.push_back({.arm = "a", .sweep = {}, .folder = "a/seed0", .config = {}, .differences = {}});
  study.traces.resize(1);
  const TemporaryFolder folder;
  write_tensorboard(folder.path(), study);
  CHECK(folder.names().empty());  // nothing is logged yet

  auto& history = study.traces[0].history;
  history.training = {.steps = {1, 300, 301}, .tokens = {1, 2, 3}, .seconds = {0.5, 1.5, 2}, .loss = {5.5, 0.25, NAN}};
  history.gradient_norm = {1, 2, 3};
  history.validation = {.steps = {300}, .tokens = {2}, .seconds = {1.5}, .loss = {0.375}};
  write_tensorboard(folder.path(), study);
  CHECK(read_file(folder / "a/seed0/events.out.tfevents.0.blockzoo") ==
        read_file(std::filesystem::path(BLOCKZOO_SOURCE_DIR) / "tests/golden/tensorboard.tfevents"));
}

}  // namespace blockzoo
