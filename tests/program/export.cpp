#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "blockzoo/hub/safetensors.h"
#include "support/catch.h"
#include "support/near.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr auto kRun = R"(model: {width: 16, layers: 2, context: 24, block: {attention: {heads: 2, window: 5}}}
data: {corpus: {kind: stories, train_stories: 32, validation_stories: 4}, validation_windows: 8}
train: {steps: 3, batch: 4, threads: 1, log_every: 1, save_every: 2}
)";

/// A folder with a trained run in it.
struct TrainedFolder {
  TrainedFolder() {
    folder.write("tiny.yaml", kRun);
    folder.write("ids.txt", "1 2 3 4 5 6 7 8 9 10 11 12");
    say({"train", "tiny.yaml", "--out", "run", "--quiet"});
  }
  /// Standard output of a call that must succeed.
  std::string say(const std::vector<std::string>& arguments) {
    Program program(folder.path(), arguments);
    const int code = program.wait();
    INFO(program.error());
    REQUIRE(code == 0);
    return program.out();
  }
  /// Standard error of a call that must fail.
  std::string refusal(const std::vector<std::string>& arguments, int code = 1) {
    Program program(folder.path(), arguments);
    CHECK(program.wait() == code);
    return program.error();
  }
  std::string logits(const std::string& model) {
    std::filesystem::remove(folder / "logits.npy");
    say({"logits", "--model", model, "--tokens", "ids.txt", "--out", "logits.npy"});
    return read_file(folder / "logits.npy");
  }
  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("A run is exported, imported and trained on, and every form of it has the same logits", "[program][torch]") {
  TrainedFolder made;
  CHECK_THAT(made.say({"export", "run", "--to", "hub", "--stock-only"}),
             ContainsSubstring("hub: MistralForCausalLM in float32") && ContainsSubstring("tokens 0.0e+00"));
  for (const auto* name : {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
                           "tokenizer_config.json", "README.md"})
    CHECK(std::filesystem::exists(made.folder / "hub" / name));
  CHECK_THAT(read_file(made.folder / "hub/README.md"),
             ContainsSubstring("| steps | 3 of 3 |") && ContainsSubstring("train_stories: 32"));
  CHECK_THAT(made.say({"import", "hub", "--to", "again.yaml"}), ContainsSubstring("MistralForCausalLM"));

  const auto expected = made.logits("run");
  CHECK(made.logits("run/checkpoints/step_00000003") == expected);
  CHECK(made.logits("hub") == expected);
  CHECK(made.logits("again.yaml") == expected);
  CHECK(made.logits("run/checkpoints/step_00000002") != expected);

  made.folder.write("more.yaml", "base: again.yaml\n" + std::string(kRun).substr(std::string(kRun).find("data:")));
  made.say({"train", "more.yaml", "--out", "more", "--quiet"});
  const auto before = load_safetensors(made.folder / "again.safetensors");
  const auto record = nlohmann::json::parse(read_file(made.folder / "more/run.json"));
  const auto first = nlohmann::json::parse(read_file(made.folder / "run/run.json"));
  CHECK(record["first_loss"].get<double>() < first["first_loss"].get<double>());
  made.say({"export", "more", "--to", "later"});
  CHECK(made.logits("later") != expected);
  CHECK(load_safetensors(made.folder / "again.safetensors").size() == before.size());
}

TEST_CASE("What cannot be exported or imported is refused in one sentence, and nothing is written",
          "[program][error][torch]") {
  TrainedFolder made;
  CHECK_THAT(made.refusal({"export", "nowhere", "--to", "x"}, 2), ContainsSubstring("nowhere"));
  CHECK_THAT(made.refusal({"export", "tiny.yaml", "--to", "x"}), ContainsSubstring("tiny.yaml names no weights"));
  CHECK_THAT(made.refusal({"export", "run", "--to", "run"}), ContainsSubstring("run is there already"));
  CHECK_THAT(made.refusal({"export", "run", "--to", "x", "--set", "model.layers=3"}),
             ContainsSubstring("which has its own config and weights"));
  CHECK_THAT(made.refusal({"import", "run", "--to", "x.yaml"}), ContainsSubstring("run has no config.json"));
  CHECK_THAT(made.refusal({"import", "run", "--to", "x"}), ContainsSubstring("must end in .yaml"));
  CHECK_THAT(made.refusal({"import", "run", "--to", "tiny.yaml"}), ContainsSubstring("tiny.yaml is there already"));
  CHECK_FALSE(std::filesystem::exists(made.folder / "x"));
  made.folder.write("odd.yaml", "base: tiny.yaml\nmodel: {block: {residual_scale: 0.5}}\n");
  made.say({"train", "odd.yaml", "--out", "odd", "--quiet"});
  CHECK_THAT(made.refusal({"export", "odd", "--to", "x", "--stock-only"}),
             ContainsSubstring("no class of transformers holds this model exactly") &&
                 ContainsSubstring("cannot hold block.residual_scale, which is 0.5"));
  CHECK_FALSE(std::filesystem::exists(made.folder / "x"));
  CHECK_THAT(made.say({"export", "odd", "--to", "x"}), ContainsSubstring("trust_remote_code"));
  CHECK(std::filesystem::exists(made.folder / "x/modeling_blockzoo.py"));
  made.folder.write("start.yaml", "base: tiny.yaml\nstart: {kind: weights, path: none.safetensors}\n");
  CHECK_THAT(made.refusal({"train", "start.yaml", "--out", "y"}), ContainsSubstring("none.safetensors"));
  made.folder.write("start.yaml",
                    "base: tiny.yaml\nmodel: {layers: 3}\nstart: {kind: weights, path: x/model.safetensors}\n");
  CHECK_THAT(
      made.refusal({"train", "start.yaml", "--out", "y"}),
      ContainsSubstring("does not fit the model; nothing was loaded") && ContainsSubstring("missing: blocks.2."));
}

}  // namespace blockzoo
