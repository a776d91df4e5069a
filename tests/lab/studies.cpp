#include "blockzoo/core/embedded.h"
#include "blockzoo/lab/effect.h"
#include "blockzoo/lab/study.h"
#include "support/catch.h"

namespace blockzoo {

TEST_CASE("Every study that the program carries asks a question, and each of its arms acts", "[lab][study][torch]") {
  const std::vector<std::string> small = {"train.batch=1", "model.context=32", "data.corpus.train_stories=16",
                                          "data.validation_windows=1"};
  int studies = 0;
  for (const auto& file : embedded_configs()) {
    const std::string name(file.name);
    if (!name.starts_with("studies/")) continue;
    INFO(name);
    const auto study = load_study(name, small);
    CHECK(study.question.ends_with('?'));
    CHECK(study.runs.size() <= 40);
    const auto effects = effects_of(study);
    CHECK_FALSE(effects.empty());
    CHECK_NOTHROW(refuse_without_effect(effects, name));
    ++studies;
  }
  CHECK(studies >= 3);
}

}  // namespace blockzoo
