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
