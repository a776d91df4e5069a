#include <fstream>
#include <nlohmann/json.hpp>

#include "blockzoo/train/run_config.h"
#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("check prints a resolved run as YAML, with what follows from it and what differs from its base",
          "[program][torch][config]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "base.yaml") << "model: {width: 64}\n";
  std::ofstream(folder / "run.yaml") << "base: base.yaml\nmodel: {layers: 5, overrides: [{layers: [3], block: {ffn: "
                                        "{ratio: 2}}}]}\ntrain: {optimizer: {lr: 3e-3}}\n";
  Program program(folder.path(), {"check", "run.yaml", "--set", "train.steps=50"});
  CHECK(program.wait() == 0);
  CHECK(program.error() == "");
  const auto out = program.out();
  CHECK_THAT(out, StartsWith("# run.yaml: a valid run"));
  CHECK_THAT(out, ContainsSubstring("hidden width") && ContainsSubstring("170 (layers 0-2, 4); 128 (layers 3)"));
  CHECK_THAT(out, ContainsSubstring("# differs from base.yaml\n"));
  CHECK_THAT(out, ContainsSubstring("#   model.layers: 5 instead of 4\n"));
  CHECK_THAT(out, ContainsSubstring("#   train.optimizer.lr: 0.003 instead of 0.001\n"));
  CHECK_THAT(out, ContainsSubstring("#   train.steps: 50 instead of 200\n"));
  CHECK_THAT(out, ContainsSubstring("total"));

  const auto config = load_run_config(folder / "run.yaml", {"train.steps=50"});
  CHECK(write_yaml(to_document(resolved(config))) == write_yaml(parse_yaml(out, "stdout")));
  CHECK_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST_CASE("check answers programs in JSON", "[program][torch][config]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "run.yaml") << "model: {layers: 3}\n";
  Program good(folder.path(), {"check", "run.yaml", "--json"});
  CHECK(good.wait() == 0);
  const auto answer = nlohmann::json::parse(good.out());
  CHECK(answer["valid"] == true);
  CHECK(answer["config"]["model"]["layers"] == 3);
  CHECK(answer["config"]["train"]["optimizer"]["lr"] == 1e-3);
  CHECK(answer["config"]["model"]["tied"] == false);
  CHECK(answer["derived"]["by_layer"]["hidden width"] == nlohmann::json({341, 341, 341}));
  CHECK(answer["differences"][0]["path"] == "model.layers");

  std::ofstream(folder / "bad.yaml") << "modle: {}\n\ntrain: {steps: 0}\n";
  Program bad(folder.path(), {"check", "bad.yaml", "--json"});
  CHECK(bad.wait() == 2);
  const auto refusal = nlohmann::json::parse(bad.out());
  CHECK(refusal["valid"] == false);
  REQUIRE(refusal["problems"].size() == 2);
  CHECK(refusal["problems"][0]["path"] == "modle");
  CHECK(refusal["problems"][1]["line"] == 3);
  CHECK(refusal["problems"][1]["path"] == "train.steps");
  CHECK_THAT(bad.error(),
             ContainsSubstring("bad.yaml:1: modle: no such key") && ContainsSubstring("bad.yaml:3: train.steps: is 0"));
}

TEST_CASE("check reads a study and shows how each run differs from the base", "[program][torch][config]") {
  const TemporaryFolder folder;
  Program good(folder.path(), {"check", "studies/norm_position.yaml"});
  CHECK(good.wait() == 0);
  CHECK_THAT(good.out(), ContainsSubstring("# studies/norm_position.yaml: a valid study of 24 runs"));
  CHECK_THAT(good.out(), ContainsSubstring("#   model.block.layout: {kind: post_norm} instead of {kind: pre_norm}\n"));
  CHECK_THAT(good.out(),
             ContainsSubstring("\n# post_norm, train.optimizer.lr 1e-3, seeds 0, 1, 2, 935,520 parameters"));
  CHECK_THAT(good.out(), ContainsSubstring("# same data and training settings as the base in every arm"));

  std::ofstream(folder / "bad.yaml")
      << "base: {}\narms:\n  a: {}\n  b: {model: {block: {norm: {kind: batch_norm}}}}\n  c: {lr: 1}\n";
  Program bad(folder.path(), {"check", "bad.yaml"});
  CHECK(bad.wait() == 2);
  CHECK(bad.out() == "");
  CHECK_THAT(bad.error(), ContainsSubstring("bad.yaml:4: arms.b: model.block.norm.kind: no 'batch_norm'") &&
                              ContainsSubstring("bad.yaml:5: arms.c: lr: no such key"));
}

TEST_CASE("check says parameters and FLOPs with their conventions, and how each arm of a study was matched",
          "[program][torch][config][flops][matching]") {
  const TemporaryFolder folder;
  Program run(folder.path(), {"check", "models/tiny.yaml"});
  CHECK(run.wait() == 0);
  CHECK_THAT(run.out(), ContainsSubstring("no embeddings") && ContainsSubstring("all pairs") &&
                            ContainsSubstring("visible pairs") && ContainsSubstring("query_key_value") &&
                            ContainsSubstring("# training FLOPs (3 x forward; 2 for each multiply-add"));
  folder.write("study.yaml",
               "base: {}\narms: {a: {}, b: {model: {block: {ffn: {kind: mlp}}}}}\n"
               "match: {by: parameters}\nbudget: {tokens: 1e6}\n");
  Program words(folder.path(), {"check", "study.yaml"});
  CHECK(words.wait() == 0);
  CHECK_THAT(words.out(), ContainsSubstring("#   model.block.ffn.hidden 51") &&
                              ContainsSubstring(", matched by parameters, residue ") &&
                              ContainsSubstring("#   model.block.ffn: {kind: mlp, activation: gelu, hidden: 51"));
  Program json(folder.path(), {"check", "study.yaml", "--json"});
  CHECK(json.wait() == 0);
  const auto answer = nlohmann::json::parse(json.out());
  CHECK(answer["base"]["train"]["steps"] == 488);
  CHECK(answer["derived"]["forward_flops"]["all pairs"]["total"] >
        answer["derived"]["forward_flops"]["visible pairs"]["total"]);
  CHECK(answer["derived"]["training_flops"] == answer["runs"][0]["training_flops"]);
  CHECK(answer["runs"][0]["match"].is_null());
  CHECK(answer["runs"][1]["match"]["using"] == "model.block.ffn.hidden");
  CHECK(std::abs(answer["runs"][1]["match"]["residue"].get<double>()) < 0.02);
  Program dry(folder.path(),
              {"ablate", "study.yaml", "--dry-run", "--set", "model.layers=1", "--set", "train.batch=1"});
  CHECK(dry.wait() == 0);
  CHECK_THAT(dry.out(), ContainsSubstring(", matched by parameters, residue ") &&
                            ContainsSubstring("same data and training settings as the base in every arm") &&
                            ContainsSubstring("model.block.ffn: {kind: mlp, activation: gelu, hidden: 51"));
}

TEST_CASE("files that no parser should choke on are refused by the program without a signal",
          "[program][torch][config][error]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "deep.yaml") << std::string(100'000, '[');
  std::ofstream(folder / "self.yaml") << "x: &x [*x]\n";
  std::ofstream(folder / "utf16.yaml") << std::string(
      "\xff\xfe"
      "a\0:\0",
      6);
  std::ofstream(folder / "empty.yaml");
  for (const std::string name : {"deep.yaml", "self.yaml", "utf16.yaml", "empty.yaml"}) {
    for (const std::string command : {"check", "train"}) {
      INFO(command << " " << name);
      Program program(folder.path(), {command, name});
      CHECK(program.wait() == 2);
      CHECK_THAT(program.error(), StartsWith(name + ":1:"));
    }
  }
  Program set(folder.path(), {"check", "models/tiny.yaml", "--set", "model=" + std::string(100'000, '[')});
  CHECK(set.wait() == 2);
}

TEST_CASE("list prints every kind, one family, or Markdown and JSON", "[program][torch][config]") {
  const TemporaryFolder folder;
  Program all(folder.path(), {"list"});
  CHECK(all.wait() == 0);
  CHECK_THAT(all.out(), ContainsSubstring("pre_norm (default)") && ContainsSubstring("arXiv:2002.04745") &&
                            ContainsSubstring("weight_decay"));
  Program norm(folder.path(), {"list", "norm"});
  CHECK(norm.wait() == 0);
  CHECK_THAT(norm.out(), ContainsSubstring("rms_norm (default)") && !ContainsSubstring("weight_decay"));
  Program json(folder.path(), {"list", "rope", "--json"});
  CHECK(json.wait() == 0);
  CHECK(nlohmann::json::parse(json.out())["families"][0]["kinds"][0]["kind"] == "rope");
  Program unknown(folder.path(), {"list", "nrom"});
  CHECK(unknown.wait() == 2);
  CHECK_THAT(unknown.error(), ContainsSubstring("no family, section or kind is called 'nrom'") &&
                                  ContainsSubstring("did you mean 'norm'?"));
}

}  // namespace blockzoo
