#include "blockzoo/lab/run_history.h"

#include <cmath>

#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {

TEST_CASE("A run without metrics has no history", "[lab][history][torch]") {
  const TemporaryFolder folder;
  CHECK(read_history(folder.path()).training.steps.empty());
}

TEST_CASE("Columns are as long as the steps, with NaN for null, and a half-written line is left out",
          "[lab][history][torch]") {
  const TemporaryFolder folder;
  folder.write("metrics.jsonl",
               R"({"step":1,"tokens":96,"loss":5.5,"lr":0.1,"gradient_norm":2,"seconds":0.5}
{"step":2,"tokens":192,"loss":null,"lr":0.1,"gradient_norm":null,"gradient_norms":{"head":3},"finite":false,"seconds":1}
{"step":4,"validation":{"loss":4.5}}
not json
[1]
{"step":5,"tokens":480,"lo)");
  const auto history = read_history(folder.path());
  CHECK(history.training.steps == std::vector<int64_t>{1, 2});
  CHECK(history.training.tokens == std::vector<double>{96, 192});
  CHECK(history.training.seconds == std::vector<double>{0.5, 1});
  CHECK(history.training.loss.front() == 5.5);
  CHECK(std::isnan(history.training.loss.back()));
  CHECK(std::isnan(history.gradient_norm.back()));
  const auto& head = history.layer_gradient_norms.at("head");
  REQUIRE(head.size() == 2);
  CHECK(std::isnan(head.front()));
  CHECK(head.back() == 3);
  CHECK(history.validation.steps == std::vector<int64_t>{4});
  CHECK(history.validation.tokens == std::vector<double>{384});
  CHECK(history.validation.seconds == std::vector<double>{2});
  CHECK(history.validation.loss == std::vector<double>{4.5});
}

TEST_CASE("Lines that go back to an earlier step replace what came after it", "[lab][history][torch]") {
  const TemporaryFolder folder;
  folder.write("metrics.jsonl",
               R"({"step":1,"loss":5,"gradient_norm":1}
{"step":2,"loss":4,"gradient_norm":2}
{"step":2,"validation":{"loss":4.1}}
{"step":3,"loss":3,"gradient_norm":3}
{"step":2,"loss":4.5,"gradient_norm":4}
)");
  const auto history = read_history(folder.path());
  CHECK(history.training.steps == std::vector<int64_t>{1, 2});
  CHECK(history.training.loss == std::vector<double>{5, 4.5});
  CHECK(history.gradient_norm == std::vector<double>{1, 4});
  CHECK(history.validation.steps.empty());
}

}  // namespace blockzoo
