#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

}  // namespace

TEST_CASE("A report of a folder that is no study's ends with 1 and says why", "[program][page][torch]") {
  const TemporaryFolder folder;
  Program program(folder.path(), {"report", "."});
  CHECK(program.wait() == 1);
  CHECK_THAT(program.error(), ContainsSubstring("is not the folder of a study: it has no study.json"));
}

TEST_CASE("A report of a study that has not begun is made of its plan alone", "[program][page][torch]") {
  const TemporaryFolder folder;
  folder.write("study.json",
               R"({"schema": 1, "name": "plan", "question": "Which?", "runs": [{"folder": "a/seed0", "arm": "a",
                   "seed": 0, "identity": "i", "sweep": {}, "differences": []}]})");
  Program program(folder.path(), {"report", "."});
  CHECK(program.wait() == 0);
  CHECK_THAT(program.out(), ContainsSubstring("report.html"));
  CHECK_THAT(read_file(folder / "report.html"), ContainsSubstring("not started"));
  CHECK_THAT(read_file(folder / "results.csv"), ContainsSubstring("a,1,0,,,,,,,,,,,,,,,,,,,,1 not started"));
}

}  // namespace blockzoo
