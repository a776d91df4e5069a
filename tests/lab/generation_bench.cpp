#include "blockzoo/lab/generation_bench.h"

#include "blockzoo/infer/generate.h"
#include "blockzoo/train/session.h"
#include "infer/step_copies.h"
#include "support/catch.h"
#include "support/from_yaml.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

RunConfig copied_run() {
  auto config = tiny_run();
  config.model =
      from_yaml<ModelConfig>("{vocabulary: 5000, width: 256, layers: 2, context: 96, block: {attention: {heads: 8}}}");
  return config;
}

}  // namespace

TEST_CASE("Generation is timed with the tokens and copies of a run's start values", "[lab][infer][torch][fast]") {
  const auto config = copied_run();
  const GenerationLoad load{.texts = 1, .prompt_tokens = 16, .new_tokens = 70};
  const auto bench = bench_generation(config, load);
  CHECK(bench.steps_s.size() == 69);
  Session session(config);
  const GenerateOptions options{.tokens = 70, .sampling = {.temperature = 0}};
  REQUIRE(bench.ids.size() == 1);
  CHECK(bench.ids[0] == generate(*session.model(), bench.prompts, options)[0].ids);
  const StepCopies copies(*session.model(), options, 1);
  CHECK(bench.copies == copies.words());
  CHECK(bench.model_bytes - bench.bytes_per_step == static_cast<double>(copies.saved_bytes()));
  CHECK(copies.saved_bytes() > 0);  // the head's, at least
  CHECK_THAT(to_text(bench), ContainsSubstring("instead: " + bench.copies + "; without them "));
}

TEST_CASE("Several texts read the weights as they are", "[lab][infer][torch][fast]") {
  const auto bench = bench_generation(copied_run(), {.texts = 2, .prompt_tokens = 16, .new_tokens = 70});
  CHECK(bench.ids.size() == 2);
  CHECK(bench.copies == "none");
  CHECK(bench.model_bytes == bench.bytes_per_step);
  CHECK_THAT(to_text(bench), ContainsSubstring("instead: none\n"));
}

TEST_CASE("Texts to time that are longer than the context are refused", "[lab][infer][torch][fast]") {
  CHECK_THROWS_WITH(
      bench_generation(copied_run(), {.texts = 1, .prompt_tokens = 64, .new_tokens = 34}),
      "64 tokens of a prompt and 34 new ones make the model read 97, but its context is 96; give fewer by "
      "--prompt-tokens and --new-tokens");
}

}  // namespace blockzoo
