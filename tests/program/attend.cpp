#include <algorithm>
#include <nlohmann/json.hpp>

#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using AttendWords = std::vector<std::string>;

/// A folder with an untrained model of bytes, three layers of two heads.
struct AttendFolder {
  AttendFolder() {
    folder.write("bytes.yaml",
                 "model: {vocabulary: 256, width: 16, layers: 3, context: 32, block: {attention: {heads: 2}}}\n");
    Model model(load_model_config(folder / "bytes.yaml"));
    model->init_parameters(4);
    save_weights(*model, folder / "bytes.safetensors");
  }
  std::string run(const AttendWords& more, int code = 0) {
    AttendWords arguments{"attend", "bytes.yaml", "--weights", "bytes.safetensors"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Program program(folder.path(), arguments, {"COLUMNS=80"});
    const int ended = program.wait();
    error = program.error();
    INFO(error);
    REQUIRE(ended == code);
    return program.out();
  }
  TemporaryFolder folder;
  std::string error;  // of the last call
};

}  // namespace

TEST_CASE("attend prints maps with their tokens, in as many columns as there are, and no colour into a file",
          "[program][torch][attend]") {
  AttendFolder made;
  const auto out = made.run({"--prompt", "Once é", "--layers", "0,2", "--heads", "1", "--maps", "1"});
  CHECK_THAT(out, ContainsSubstring(": 7 tokens") && ContainsSubstring("1 of 2 maps") &&
                      ContainsSubstring("layer 0, head 1") && ContainsSubstring("   4 ␣ ") &&
                      ContainsSubstring("   5 <0xC3> ") && ContainsSubstring("entropy in nats"));
  CHECK(out.find('\x1b') == std::string::npos);
  CHECK_NOTHROW(nlohmann::json(out).dump());  // which refuses what is no UTF-8
  CHECK(made.run({"--ids", "79 110", "--layers", "2", "--heads", "0-1"}).find("   1 110 ") != std::string::npos);
}

TEST_CASE("the JSON document of attend has every weight and the scores, and the page is written beside it",
          "[program][torch][attend]") {
  AttendFolder made;
  const auto json = nlohmann::json::parse(made.run({"--prompt", "Tom</script>", "--induction", "--length", "5",
                                                    "--heads", "0", "--json", "-", "--html", "page.html"}));
  REQUIRE(json["heads"].size() == 3);
  CHECK(json["tokens"].size() == 12);
  for (const auto& head : json["heads"]) {
    CHECK(head["head"] == 0);
    REQUIRE(head["weights"].size() == 12);
    for (size_t query = 0; query < 12; ++query) {
      const auto row = head["weights"][query].get<std::vector<double>>();
      REQUIRE(row.size() == query + 1);
      double sum = 0;
      for (const auto weight : row) sum += weight;
      CHECK(sum == Approx(1).epsilon(1e-4));
    }
  }
  CHECK(json["induction"]["length"] == 5);
  REQUIRE(json["induction"]["heads"].size() == 3);
  CHECK(json["induction"]["heads"][0]["chance"].get<double>() > 0);
  const auto page = read_file(made.folder / "page.html");
  CHECK_THAT(page, ContainsSubstring("Tom") || ContainsSubstring("\\u003c"));
  CHECK(page.find("{{") == std::string::npos);
  const auto alone = made.run({"--induction", "--random-from", "abcdefgh"});
  CHECK_THAT(alone, ContainsSubstring("sequences of 8 different tokens") && ContainsSubstring("none; the nearest is"));
}

TEST_CASE("What attend cannot do is refused in one line", "[program][error][torch][attend]") {
  AttendFolder made;
  const auto refusal = [&](const AttendWords& arguments) {
    CHECK(made.run(arguments, 1).empty());
    CHECK(std::count(made.error.begin(), made.error.end(), '\n') == 1);
    return made.error;
  };
  const auto with_prompt = [&](AttendWords arguments) {
    arguments.insert(arguments.end(), {"--prompt", "a"});
    return refusal(arguments);
  };
  CHECK_THAT(refusal({}), ContainsSubstring("there is nothing to look at"));
  CHECK_THAT(refusal({"--prompt", ""}), ContainsSubstring("the prompt is empty"));
  CHECK_THAT(refusal({"--prompt", std::string(33, 'x')}),
             ContainsSubstring("the prompt has 33 tokens, but the model's context is 32"));
  CHECK_THAT(with_prompt({"--prompt", "b"}), ContainsSubstring("attend looks at one prompt, got 2"));
  CHECK_THAT(with_prompt({"--layers", "0,3"}), ContainsSubstring("there is no 3; the model's layers run from 0 to 2"));
  CHECK_THAT(with_prompt({"--layers", "2-1"}), ContainsSubstring("'2-1' is no number and no range"));
  CHECK_THAT(with_prompt({"--heads", "2"}), ContainsSubstring("the model's heads run from 0 to 1"));
  CHECK_THAT(refusal({"--induction", "--html", "page.html"}), ContainsSubstring("give --prompt"));
  CHECK_THAT(refusal({"--induction", "--length", "2"}), ContainsSubstring("--length must be 3 or more, got 2"));
  CHECK_THAT(refusal({"--induction", "--length", "17"}), ContainsSubstring("allow 16"));
  CHECK_THAT(refusal({"--ids", "1", "--tokenizer", "x"}), ContainsSubstring("--tokenizer is for texts"));
}

}  // namespace blockzoo
