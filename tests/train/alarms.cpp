#include "train/alarms.h"

#include <cmath>

#include "support/catch.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A first loss near ln(vocabulary) is quiet, and one far away is not", "[train][alarms][torch]") {
  CHECK(start_alarm(std::log(256.0), 256).empty());
  CHECK(start_alarm(6.5, 256).empty());
  CHECK_THAT(start_alarm(9.8, 256),
             ContainsSubstring("9.80, is far from ln(256) = 5.55") && ContainsSubstring("start values are too large"));
  CHECK_THAT(start_alarm(0.5, 256), ContainsSubstring("known beforehand"));
  CHECK(start_alarm(std::nan(""), 256).empty());  // a divergence, which is told elsewhere
}

TEST_CASE("A validation loss below what the text holds raises an alarm, and chance does not",
          "[train][alarms][entropy][torch]") {
  CHECK(entropy_alarm(0.14, 0.134, 10'000).empty());
  CHECK(entropy_alarm(0.134 - 0.0034, 0.134, 10'000).empty());
  CHECK_THAT(entropy_alarm(0.134 - 0.0036, 0.134, 10'000),
             ContainsSubstring("0.1304, is below the 0.1340 nats per token"));
  CHECK(entropy_alarm(0.01, 0.134, 100).empty());  // so few tokens cannot tell
  CHECK(entropy_alarm(std::nan(""), 0.134, 10'000).empty());
}

TEST_CASE("Another number of tokens than planned raises an alarm", "[train][alarms][torch]") {
  CHECK(tokens_alarm(768, 768).empty());
  CHECK_THAT(tokens_alarm(767, 768), ContainsSubstring("trained on 767 tokens, and its config plans 768"));
}

TEST_CASE("Validation windows found in the training data raise an alarm", "[train][alarms][torch]") {
  auto config = tiny_run();
  config.model.context = 64;
  CHECK(overlap_alarm(Session(config)).empty());
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "line " + std::to_string(i) + " of a text\n";
  config.data.corpus = TextConfig{.path = folder.write("train.txt", text + " and its end"),
                                  .validation = PathValidationConfig{.path = folder.write("validation.txt", text)}};
  CHECK_THAT(overlap_alarm(Session(config)), ContainsSubstring("12 of 12 validation windows stand in the training"));
}

}  // namespace blockzoo
