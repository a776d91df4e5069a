#include "blockzoo/lab/studied_keys.h"

#include "blockzoo/lab/settings.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr auto kTiny =
    "base: {model: {width: 16, layers: 2, context: 16, block: {attention: {heads: 2}}}, train: {batch: 2}}\n";

Study study(const std::string& rest) {
  const TemporaryFolder folder;
  return load_study(folder.write("study.yaml", kTiny + rest));
}

std::vector<std::string> changes(const std::string& rest) { return mixed_changes(study(rest)); }

const std::string kNone = "same data and training settings as the base in every arm that changes the model";

}  // namespace

TEST_CASE("An arm that changes model and training or data together is named with its keys", "[lab][fairness][torch]") {
  CHECK(changes("arms: {a: {}, b: {model: {block: {layout: {kind: post_norm}}}, train: {batch: 4}}}") ==
        std::vector<std::string>{"NOT one change: arm b differs from the base in model.block.layout and in train.batch "
                                 "too; what is measured is all of it together"});
  CHECK(
      changes(
          "arms: {a: {}, b: {model: {layers: 3, tied: true}, train: {optimizer: {lr: 1}}, data: {corpus: {seed: 3}}}, "
          "c: {model: {layers: 1}}}") ==
      std::vector<std::string>{"NOT one change: arm b differs from the base in model.layers, model.tied and in "
                               "data.corpus.seed and in train.optimizer.lr too; what is measured is all of it "
                               "together"});
  CHECK_THAT(changes("arms: {a: {}, b: {data: {corpus: {seed: 1}}, train: {steps: 9}}}").at(0),
             ContainsSubstring("arm b differs from the base in data.corpus.seed and in train.steps too"));
}

TEST_CASE("One change of several keys is one change", "[lab][fairness][torch]") {
  CHECK(changes("arms: {a: {}, b: {model: {layers: 3, width: 32}}}") == std::vector{kNone});
  CHECK(changes("arms: {a: {}, b: {train: {optimizer: {weight_decay: 0, lr: 1}, batch: 4, steps: 4}}}").empty());
  CHECK(changes("arms: {a: {}, b: {data: {corpus: {seed: 1}, validation_windows: 4}}}").empty());
  CHECK(changes("arms: {a: {}, b: {data: {corpus: {seed: 1}}, model: {vocabulary: 300}}}").empty());
  CHECK(changes("arms: {a: {}, b: {model: {layers: 3}, train: {log_every: 1, threads: 1, keep: 1}}}") ==
        std::vector{kNone});
}

TEST_CASE("What the study varies for every arm is no second change", "[lab][fairness][torch]") {
  const std::string arms = "arms: {a: {}, b: {model: {block: {ffn: {kind: mlp}}}}}\n";
  CHECK(changes(arms + "sweep: {train.optimizer.lr: [1, 2], train.batch: [2, 4]}") == std::vector{kNone});
  CHECK(changes(arms + "sweep: {model.layers: [1, 2]}") == std::vector{kNone});
  CHECK(changes("arms: {a: {}, b: {train: {batch: 4}}}\nsweep: {model.layers: [1, 2]}").empty());
  CHECK(changes("arms: {a: {}, b: {model: {layers: 1}}}\nmatch: {by: flops, using: train.steps, tolerance: 0.2}") ==
        std::vector{kNone});
  const auto longer = study("arms: {a: {}, b: {model: {context: 32}}}\nbudget: {tokens: 640}");
  CHECK(longer.budget.tokens == 640);
  CHECK(longer.runs.at(1).config.train.steps == 10);
  CHECK(mixed_changes(longer) == std::vector{kNone});
}

TEST_CASE("In a factorial study only a mixed factor is told, not the combination", "[lab][fairness][torch]") {
  const std::string factors =
      "factorial: {layout: {pre: {}, post: {model: {block: {layout: {kind: post_norm}}}}}, rate: {low: {}, high: ";
  CHECK(changes(factors + "{train: {optimizer: {lr: 1}}}}}") ==
        std::vector{kNone + ", but for the levels of the factors"});
  const auto mixed = changes(factors + "{train: {optimizer: {lr: 1}}, model: {layers: 1}}}}");
  REQUIRE(mixed.size() == 1);
  CHECK_THAT(mixed[0], ContainsSubstring("arm pre+high differs"));
}

TEST_CASE("A difference that the arm does not name is a fault of the program", "[lab][fairness][error][torch]") {
  const auto planned = study("arms: {a: {}, b: {model: {width: 32}}}");
  const auto &base = planned.base, &wide = planned.runs.at(1).config;
  CHECK_NOTHROW(require_named(base, wide, parse_yaml("{model: {width: 32}}", "patch"), "arms.b"));
  CHECK_NOTHROW(require_named(base, wide, parse_yaml("{model: {width: 32}, train: {batch: 2}}", "patch"), "arms.b"));
  auto also = wide;
  also.train.batch = 4;
  CHECK_THROWS_WITH(require_named(base, also, parse_yaml("{model: {width: 32}}", "patch"), "arms.b"),
                    "arms.b: train.batch becomes 4, which the arm does not name");
}

TEST_CASE("An arm or a sweep cannot set the seed that seeds sets", "[lab][fairness][error][torch]") {
  CHECK_THROWS_WITH(study("arms:\n  a: {}\n  b: {data: {seed: 3}}"),
                    ContainsSubstring("study.yaml:4: arms.b: data.seed: has no effect; seeds sets it for every run"));
  CHECK_THROWS_WITH(study("arms: {a: {}}\nsweep: {seed: [1, 2]}"),
                    ContainsSubstring("study.yaml:3: sweep.seed: has no effect; seeds sets it for every run"));
}

TEST_CASE("A setting has the runs of all its seeds", "[lab][study][torch]") {
  const auto planned =
      study("arms: {a: {}, b: {model: {layers: 3}}}\nsweep: {train.optimizer.lr: [1, 2]}\nseeds: [0, 7]\n");
  const auto settings = settings_of(planned);
  REQUIRE(settings.size() == 4);
  CHECK(settings[3].title() == "b, train.optimizer.lr 2, seeds 0, 7");
  CHECK(settings[3].run == &planned.runs[6]);
  const auto single = study("arms: {a: {}}");
  CHECK(settings_of(single).at(0).title() == "a, seed 0");
}

}  // namespace blockzoo
