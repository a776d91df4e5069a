#include "core/reader.h"

#include "core/toy_config.h"
#include "support/catch.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("an empty map is the defaults, and every field can be set", "[core][config]") {
  CHECK(to_tree(read_toy("{}")) == to_tree(ToyConfig{}));
  const auto config = read_toy(R"(
name: a name
tied: true
shade: dark
width: 7
seeds: [1, 2]
norm: {kind: hard, limit: 0.5}
last_norm: {kind: none}
train:
  steps: 10
  warmup: 10
  optimizer: {lr: 1e-2}
free: {a: [1, x]}
)");
  CHECK(config.name == "a name");
  CHECK(config.width == 7);
  CHECK(std::get<HardNorm>(config.norm).limit == 0.5);
  CHECK(std::holds_alternative<NoNorm>(*config.last_norm));
  CHECK(one_line(config.free) == "{a: [1, x]}");
  CHECK(to_tree(read_config<ToyConfig>(to_tree(config))) == to_tree(config));
}

TEST_CASE("all problems come at once, each with file, line and path", "[core][error]") {
  const auto problems = toy_problems(R"(name: [a]
tied: maybe
norm:
  kind: soft
  esp: 1
train:
  steps: 1.5
  optimizer:
    lr: -1
sheds: [0]
)");
  CHECK_THAT(problems, ContainsSubstring("toy.yaml:1: name: must be text, not '[a]'"));
  CHECK_THAT(problems, ContainsSubstring("toy.yaml:2: tied: must be true or false, not 'maybe'"));
  CHECK_THAT(problems, ContainsSubstring(
                           "toy.yaml:5: norm.esp: no such key; allowed are: kind, eps, gain (did you mean 'eps'?)"));
  CHECK_THAT(problems, ContainsSubstring(
                           "toy.yaml:7: train.steps: must be a whole decimal number that fits in 64 bits, not '1.5'"));
  CHECK_THAT(problems, ContainsSubstring("toy.yaml:9: train.optimizer.lr: is -1; must be a number above 0"));
  CHECK_THAT(problems, ContainsSubstring("toy.yaml:10: sheds: no such key; allowed are: name, ") &&
                           ContainsSubstring("(did you mean 'seeds'?)"));
  CHECK(std::count(problems.begin(), problems.end(), '\n') == 5);
}

TEST_CASE("a problem with a map is shown at its key, not at what the map begins with", "[core][error]") {
  CHECK_THAT(toy_problems("trian:\n\n  steps: 5\n"), StartsWith("toy.yaml:1: trian: no such key"));
  CHECK_THAT(toy_problems("train:\n  - 5\n"),
             StartsWith("toy.yaml:1: train: must be a map of keys and values, not '[5]'"));
}

TEST_CASE("a key that belongs elsewhere is told its place", "[core][error]") {
  CHECK_THAT(toy_problems("lr: 1e-3"),
             StartsWith("toy.yaml:1: lr: no such key") && ContainsSubstring("(did you mean 'train.optimizer.lr'?)"));
  CHECK_THAT(toy_problems("train: {lr: 1e-3}"), ContainsSubstring("(did you mean 'train.optimizer.lr'?)"));
  CHECK_THAT(toy_problems("train: {optimizer: {steps: 3}}"), ContainsSubstring("(did you mean 'train.steps'?)"));
  CHECK_THAT(toy_problems("limit: 0.5"), ContainsSubstring("(did you mean 'norm.limit' or 'last_norm.limit'?)"));
  CHECK_THAT(toy_problems("train: {tied: true}"), ContainsSubstring("(did you mean 'tied'?)"));
}

TEST_CASE("a misspelt key is told the nearest one, and a strange one only what is allowed", "[core][error]") {
  CHECK_THAT(toy_problems("train: {step: 1}"),
             ContainsSubstring("allowed are: steps, warmup, optimizer (did you mean 'steps'?)"));
  CHECK_THAT(toy_problems("train: {zzzzzzzz: 1}"), !ContainsSubstring("did you mean"));
  CHECK_THAT(toy_problems("norm: {knid: hard}"),
             ContainsSubstring("norm.knid: no such key; allowed are: kind, eps, gain (did you mean 'kind'?)"));
  CHECK_THAT(toy_problems("norm: {kind: none, x: 1}"), ContainsSubstring("norm.x: no such key; allowed are: kind"));
  CHECK_THAT(toy_problems("name: a\nlr:1e-3\n"), StartsWith("toy.yaml:2: lr:1e-3: no such key") &&
                                                     ContainsSubstring("a blank must follow the colon: 'lr: 1e-3'"));
  CHECK_THAT(toy_problems("-name: a\n"),
             ContainsSubstring("-name: no such key") && ContainsSubstring("did you mean 'name'?"));
  CHECK_THAT(toy_problems(std::string(900, 'k') + ": 1"), ContainsSubstring("no such key"));
}

TEST_CASE("a key of another kind is refused with the kinds that have it", "[core][error]") {
  CHECK_THAT(toy_problems("norm: {kind: soft, limit: 1}"),
             ContainsSubstring("toy.yaml:1: norm.limit: does not apply to kind soft; it is a key of: hard"));
  CHECK_THAT(toy_problems("norm:\n  kind: none\n  eps: 1\n"),
             ContainsSubstring("toy.yaml:3: norm.eps: does not apply to kind none; it is a key of: soft"));
  CHECK_THAT(toy_problems("last_norm: {kind: hard, gain: true}"),
             ContainsSubstring("does not apply to kind hard; it is a key of: soft"));
}

TEST_CASE("a kind is one of the family's, in a map", "[core][error]") {
  CHECK_THAT(toy_problems("norm: {kind: sfot}"),
             ContainsSubstring("toy.yaml:1: norm.kind: no 'sfot'; one of: soft, hard, none (did you mean 'soft'?)"));
  CHECK_THAT(
      toy_problems("norm: off"),
      ContainsSubstring("norm: must be a map with a kind, as in {kind: soft}, not 'off'; kinds: soft, hard, none"));
  CHECK_THAT(toy_problems("norm:"),
             ContainsSubstring("norm: must be a map with a kind, as in {kind: soft}, not nothing"));
  CHECK_THAT(toy_problems("norm: soft"), ContainsSubstring("must be a map with a kind"));
  CHECK_THAT(toy_problems("norm: [soft]"), ContainsSubstring("must be a map with a kind"));
  CHECK_THAT(toy_problems("norm: {kind: [soft]}"), ContainsSubstring("norm.kind: must be one of: soft, hard, none"));
  CHECK_THAT(toy_problems("norm: {kind: }"), ContainsSubstring("norm.kind: must be one of: soft, hard, none"));
  CHECK(std::get<SoftNorm>(read_toy("norm: {eps: 0.1}").norm).eps == 0.1);
}

TEST_CASE("auto is an absent optional, and a wrong value says that auto is allowed", "[core][config]") {
  CHECK_FALSE(read_toy("width: auto").width);
  CHECK_FALSE(read_toy("last_norm: auto").last_norm);
  CHECK_THAT(toy_problems("width: none"),
             ContainsSubstring("width: must be a whole decimal number that fits in 64 bits, not 'none'; or auto"));
  CHECK_THAT(toy_problems("width: 0"), ContainsSubstring("width: is 0; must be a number above 0"));
  CHECK_THAT(toy_problems("last_norm: off"), ContainsSubstring("kinds: soft, hard, none; or auto"));
  CHECK_THAT(toy_problems("name: auto") + "none", StartsWith("none"));
  CHECK_THAT(toy_problems("tied: auto"), ContainsSubstring("must be true or false"));
}

TEST_CASE("empty values are refused by their path", "[core][error]") {
  CHECK_THAT(toy_problems("train:\n"),
             ContainsSubstring("toy.yaml:1: train: must be a map of keys and values, not nothing"));
  CHECK_THAT(toy_problems("train:\n  optimizer:\n"),
             ContainsSubstring("toy.yaml:2: train.optimizer: must be a map of keys and values, not nothing"));
  CHECK_THAT(toy_problems("name:\n"), ContainsSubstring("toy.yaml:1: name: must be text, not nothing"));
  CHECK_THAT(toy_problems("train: {steps: ~}"), ContainsSubstring("must be a whole number, not nothing"));
  CHECK_THAT(toy_problems("seeds:\n"), ContainsSubstring("seeds: must be a list such as [a, b], not nothing"));
}

TEST_CASE("items of a list are checked one by one", "[core][error]") {
  const auto problems = toy_problems("seeds: [0, x,\n  -1, 2.5]");
  CHECK_THAT(problems, ContainsSubstring("toy.yaml:1: seeds.1: must be a whole decimal number"));
  CHECK_THAT(problems, ContainsSubstring("toy.yaml:2: seeds.3: must be a whole decimal number"));
  CHECK_THAT(toy_problems("seeds: [0, -1]"), ContainsSubstring("seeds.1: is -1; must be 0 or more"));
  CHECK_THAT(toy_problems("seeds: 3"), ContainsSubstring("seeds: must be a list such as [a, b], not '3'"));
  CHECK(read_toy("seeds: []").seeds.empty());
}

TEST_CASE("a rule is told where the nearest value that was read stands", "[core][error]") {
  CHECK(toy_problems("name: a\ntrain:\n  warmup: 200\n") == "toy.yaml:3: train.warmup: is above steps, which is 100");
  CHECK(toy_problems("name: a\ntrain:\n  steps: 5\n  warmup: 6\n") ==
        "toy.yaml:4: train.warmup: is above steps, which is 5");
  const auto whole =
      overlay(to_tree(read_toy("train: {warmup: 50}")), parse_yaml("name: a\ntrain:\n  steps: 5\n", "over.yaml"));
  CHECK_THROWS_WITH(read_config<ToyConfig>(whole), StartsWith("over.yaml:2: train.warmup: is above steps, which is 5"));
}

TEST_CASE("long values are shortened in messages", "[core][error]") {
  const auto problems = toy_problems("tied: " + std::string(5000, 'x'));
  CHECK(problems.size() < 200);
  CHECK_THAT(problems, ContainsSubstring("xxx...'"));
}

TEST_CASE("a problem is written with what is known of its place", "[core]") {
  CHECK(to_string({{"f.yaml", 3, 5}, "a.b", "is wrong"}) == "f.yaml:3: a.b: is wrong");
  CHECK(to_string({{"f.yaml", 3, 5}, "", "is wrong"}) == "f.yaml:3:5: is wrong");
  CHECK(to_string({{"f.yaml", 0, 0}, "a.b", "is wrong"}) == "f.yaml: a.b: is wrong");
  CHECK(to_string({{}, "a.b", "is wrong"}) == "a.b: is wrong");
  CHECK(to_string({{}, "", "is wrong"}) == "is wrong");
  CHECK(std::string(ConfigError({{{}, "a", "x"}, {{}, "b", "y"}}).what()) == "a: x\nb: y");
}

}  // namespace blockzoo
