#include <fstream>
#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("a 540B model with a context of 16 million tokens is counted within 2 GB", "[program][torch][count]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "long.yaml") << "{base: palm-540b, model: {context: 16777216}}\n";
  constexpr int64_t kMost = 2'000'000;  // KiB
  Program program(folder.path(), {"zoo", "long.yaml", "--json"}, {}, kMost);
  CHECK(program.wait() == 0);
  const auto model = nlohmann::json::parse(program.out());
  CHECK(model["parameters"] == 540356474880);
  CHECK(model["context"] == 16777216);
  CHECK(model["about"]["parameters"].is_null());  // the file says nothing of the kind
  CHECK(Program(folder.path(), {"zoo", "long.yaml", "--json"}, {}, kMost / 100).wait() != 0);  // the limit holds
}

TEST_CASE("a model of the zoo is trained by its name, made smaller", "[program][torch]") {
  const TemporaryFolder folder;
  Program program(folder.path(), {"train", "qwen3-0.6b", "--scale", "tiny", "--set", "train.steps=3", "--set",
                                  "data.corpus={kind: stories, train_stories: 32, validation_stories: 4}", "--json"});
  CHECK(program.wait() == 0);
  CHECK(nlohmann::json::parse(program.out())["status"] == "finished");
  CHECK(std::filesystem::exists(folder / "runs/qwen3-0.6b/config.yaml"));
}

TEST_CASE("a smaller model is the base of a study", "[program][torch]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "study.yaml") << "question: Does the gain matter?\nbase: {base: llama3-8b, scale: tiny}\n"
                                          "arms: {no_gain: {model: {block: {norm: {gain: false}}}}}\n";
  Program program(folder.path(), {"check", "study.yaml", "--json"});
  CHECK(program.wait() == 0);
  CHECK(nlohmann::json::parse(program.out())["base"]["model"]["vocabulary"] == 256);
}

TEST_CASE("zoo answers a wrong request in one line", "[program][torch]") {
  const TemporaryFolder folder;
  Program unknown(folder.path(), {"zoo", "llama3-9b"});
  CHECK(unknown.wait() == 2);
  CHECK_THAT(unknown.error(), ContainsSubstring("did you mean 'llama3-8b'?"));
  Program scale(folder.path(), {"zoo", "llama3-8b", "--scale", "big"});
  CHECK(scale.wait() == 2);
  CHECK(scale.error() == "--scale: scale: is 'big'; a fraction such as 1/16, a number such as 0.25, or tiny\n");
}

}  // namespace blockzoo
