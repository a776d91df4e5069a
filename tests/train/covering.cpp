#include "support/covering.h"

#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "blockzoo/train/run.h"
#include "support/near.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {

TEST_CASE("Any two values of the zoo train three steps, save, load, and agree", "[train][covering][slow][torch]") {
  const auto tokens = at::arange(12).view({1, 12});
  for (const auto& [name, model_config] : covering_models()) {
    INFO(name);
    const TemporaryFolder folder;
    auto config = tiny_run();
    config.model = model_config;
    config.model.vocabulary = 256;
    config.train.steps = 3;
    const auto record =
        run_training(config, {.folder = folder / "run", .existing = Existing::kRefuse, .talk = Talk::kQuiet});
    REQUIRE(record.status == RunStatus::kFinished);
    CHECK(std::isfinite(record.validation->loss));

    // What a user would load: the resolved config and the weights of the checkpoint.
    const auto saved = load_run_config(folder / "run" / "config.yaml");
    const auto weights = folder / "run" / "checkpoints" / "step_00000003" / "weights.safetensors";
    Session trained(config);
    for (int i = 0; i < 3; ++i) trained.advance();
    Model loaded(saved.model);
    load_weights(*loaded, weights);
    trained.model()->eval();
    loaded->eval();
    const at::NoGradGuard no_grad;
    CHECK(at::equal(loaded->forward(tokens), trained.model()->forward(tokens)));
  }
}

}  // namespace blockzoo
