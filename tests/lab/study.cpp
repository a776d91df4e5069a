#include "blockzoo/lab/study.h"

#include <fstream>

#include "support/catch.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

class StudyFile {
 public:
  explicit StudyFile(const std::string& text) { std::ofstream(path()) << text; }
  std::filesystem::path path() const { return folder_ / "my_study.yaml"; }
  Study load(const std::vector<std::string>& sets = {}) const { return load_study(path(), sets); }

  /// The message of the ConfigError that loading throws.
  std::string refusal() const {
    try {
      load();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  }

 private:
  TemporaryFolder folder_;
};

using Catch::Matchers::ContainsSubstring;

}  // namespace

TEST_CASE("A study is every arm at every swept value with every seed, in that order", "[lab][study][torch]") {
  const StudyFile file(R"(
base: {model: {width: 32}}
arms:
  pre: {}
  post: {model: {block: {layout: {kind: post_norm}}}}
sweep:
  train.optimizer.lr: [1e-3, 1e-2]
seeds: [0, 5]
)");
  const auto study = file.load();
  CHECK(study.name == "my_study");
  REQUIRE(study.runs.size() == 8);
  CHECK(study.runs[0].folder == "pre/lr-1e-3/seed0");
  CHECK(study.runs[7].folder == "post/lr-1e-2/seed5");
  CHECK(study.runs[7].config.seed == 5);
  CHECK(study.runs[7].config.data.seed == 5);
  CHECK(std::get<AdamwConfig>(study.runs[7].config.train.optimizer).lr == 1e-2);
  CHECK(std::holds_alternative<PostNormConfig>(study.runs[7].config.model.block.layout));
  CHECK(study.runs[7].config.model.width == 32);
  CHECK(study.runs[7].title() == "post, train.optimizer.lr 1e-2, seed 5");
}

TEST_CASE("Each run lists its differences from the base, and nothing but them", "[lab][study][torch]") {
  const StudyFile file("base: {}\narms: {a: {}, b: {model: {block: {norm: {kind: layer_norm}}}}}\nseeds: [3]\n");
  const auto study = file.load();
  CHECK(study.runs[0].differences.empty());
  std::vector<std::string> paths;
  for (const auto& difference : study.runs[1].differences) paths.push_back(difference.path);
  CHECK(paths == std::vector<std::string>{"model.block.norm", "model.final_norm"});
}

TEST_CASE("Arms share the data order and the start values of what they have in common", "[lab][study][torch]") {
  const StudyFile file("base: {}\narms: {a: {}, b: {model: {block: {layout: {kind: double_norm}}}}}\nseeds: [0, 1]\n");
  const auto study = file.load();
  for (const size_t seed : {0, 1}) {
    CHECK(study.runs[seed].config.data.seed == study.runs[seed + 2].config.data.seed);
    CHECK(study.runs[seed].config.seed == study.runs[seed + 2].config.seed);
  }
}

TEST_CASE("An arm that changes nothing, or what another changes, is refused by name", "[lab][study][error][torch]") {
  CHECK_THAT(StudyFile("base: {}\narms: {a: {}, b: {model: {width: 128}}}\n").refusal(),
             ContainsSubstring("arms.b") && ContainsSubstring("same as arm a"));
  CHECK_THAT(StudyFile("base: {}\narms: {a: {model: {block: {attention: {kv_heads: 8}}}}, b: {}}\n").refusal(),
             ContainsSubstring("same as arm a"));
}

TEST_CASE("All problems of all arms come out at once, with their lines", "[lab][study][error][torch]") {
  const StudyFile file(R"(base: {}
arms:
  good: {}
  heads: {model: {block: {attention: {heads: 3}}}}
  typo: {model: {widht: 64}}
  "bad/name": {model: {width: 64}}
sweep: {train.optimizer.lr: 3, train.stepz: [1]}
)");
  const auto text = file.refusal();
  CHECK_THAT(text, ContainsSubstring("my_study.yaml:4: arms.heads: model.block.attention.heads"));
  CHECK_THAT(text,
             ContainsSubstring("my_study.yaml:5: arms.typo: model.widht") && ContainsSubstring("did you mean 'width'"));
  CHECK_THAT(text, ContainsSubstring("my_study.yaml:6: arms.bad/name"));
  CHECK_THAT(text, ContainsSubstring("my_study.yaml:7: sweep.train.optimizer.lr: must be a list"));
  CHECK_THAT(text, ContainsSubstring("sweep.train.stepz: train.stepz: no such key"));
}

TEST_CASE("A study without arms, with a repeated value or with an odd name is refused", "[lab][study][error][torch]") {
  CHECK_THAT(StudyFile("base: {}\n").refusal(), ContainsSubstring("arms"));
  CHECK_THAT(StudyFile("base: {}\narms: {a: {}}\nseeds: [1, 1]\n").refusal(),
             ContainsSubstring("two runs are the same"));
  CHECK_THAT(StudyFile("name: ../up\nbase: {}\narms: {a: {}}\n").refusal(), ContainsSubstring("name"));
  CHECK_THAT(StudyFile("base: {}\narms: {a: {}}\nseeds: []\n").refusal(), ContainsSubstring("at least one seed"));
}

TEST_CASE("Overrides are laid over the base, so arms keep their differences", "[lab][study][torch]") {
  const StudyFile file("base: {}\narms: {a: {}, b: {train: {steps: 70}}}\n");
  const auto study = file.load({"train.steps=11", "model.width=64"});
  CHECK(study.runs[0].config.train.steps == 11);
  CHECK(study.runs[1].config.train.steps == 70);
  CHECK(study.runs[1].config.model.width == 64);
}

TEST_CASE("The base may be another file, whose paths are seen from where it lies", "[lab][study][torch]") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "runs");
  std::filesystem::create_directories(folder / "texts");
  std::ofstream(folder / "texts" / "a.txt") << std::string(4000, 'x');
  std::ofstream(folder / "runs" / "base.yaml") << "data: {corpus: {kind: text, path: ../texts/a.txt}}\n";
  std::ofstream(folder / "study.yaml") << "base: runs/base.yaml\narms: {a: {}}\n";
  const auto study = load_study(folder / "study.yaml");
  CHECK(std::filesystem::equivalent(std::get<TextConfig>(study.runs[0].config.data.corpus).path,
                                    folder / "texts" / "a.txt"));
}

TEST_CASE("Where no arm is the base, the base is run as one", "[lab][study][torch]") {
  const StudyFile file("base: {}\narms: {a: {model: {width: 32}}, b: {model: {width: 64}}}\nseeds: [0, 1]\n");
  const auto study = file.load();
  REQUIRE(study.runs.size() == 6);
  CHECK(study.runs[0].arm == "base");
  CHECK(study.runs[0].differences.empty());
  const StudyFile taken("base: {}\narms:\n  base: {model: {width: 32}}\n");
  CHECK_THROWS_WITH(taken.load(), ContainsSubstring("my_study.yaml:3: arms.base: is not the base; the name is kept"));
}

TEST_CASE("A hypothesis names two arms that exist", "[lab][study][error][torch]") {
  const auto load = [](const std::string& hypothesis) {
    return StudyFile("base: {}\narms: {a: {}, wide: {model: {width: 32}}}\nhypothesis: " + hypothesis + "\n").load();
  };
  CHECK(load("{arm: wide, better_than: a, by_at_least_nats: 0.02}").hypothesis.by_at_least_nats == 0.02);
  CHECK_THROWS_WITH(load("{arm: wid, better_than: a}"),
                    ContainsSubstring("my_study.yaml:3: hypothesis.arm: no arm 'wid' (did you mean 'wide'?)"));
  CHECK_THROWS_WITH(load("{arm: a, better_than: a}"), ContainsSubstring("hypothesis.better_than: must be another arm"));
  CHECK_THROWS_WITH(load("{arm: a}"), ContainsSubstring("hypothesis.better_than: is missing"));
}

TEST_CASE("A base that is written in the study may have a base itself", "[lab][study][torch]") {
  const StudyFile file("base: {base: models/tiny.yaml, train: {steps: 70}}\narms: {a: {}}\n");
  const auto study = file.load();
  CHECK(study.base.train.steps == 70);
  CHECK(identity(study.base) == identity(load_run_config("models/tiny.yaml", {"train.steps=70"})));
}

TEST_CASE("Studies that the program carries are found by name", "[lab][study][torch]") {
  CHECK(is_study("studies/norm_position.yaml"));
  CHECK_THROWS_AS(is_study("no/such/studies/norm_position.yaml"), ConfigError);
  CHECK(load_study("studies/norm_position.yaml").runs.size() >= 8);
}

}  // namespace blockzoo
