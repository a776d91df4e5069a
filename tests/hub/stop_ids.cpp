#include "blockzoo/hub/stop_ids.h"

#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("a folder's generation_config.json says which ids end a text, or else its config.json", "[hub]") {
  const TemporaryFolder folder;
  CHECK(stop_ids(folder.path()).empty());
  folder.write("config.json", R"({"eos_token_id": 2})");
  CHECK(stop_ids(folder.path()) == std::vector<int64_t>{2});
  folder.write("generation_config.json", R"({"eos_token_id": null})");
  CHECK(stop_ids(folder.path()) == std::vector<int64_t>{2});
  folder.write("generation_config.json", R"({"eos_token_id": [5, 7]})");
  CHECK(stop_ids(folder.path()) == std::vector<int64_t>{5, 7});
  folder.write("generation_config.json", R"({"eos_token_id": "x"})");
  CHECK_THROWS_WITH(stop_ids(folder.path()), ContainsSubstring("generation_config.json") &&
                                                 ContainsSubstring("must be an id or a list of ids, got \"x\""));
  folder.write("generation_config.json", "[");
  CHECK_THROWS_WITH(stop_ids(folder.path()), ContainsSubstring("generation_config.json: is no JSON object"));
}

}  // namespace blockzoo
