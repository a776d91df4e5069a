#include "blockzoo/core/tree.h"

#include "blockzoo/core/hash.h"
#include "core/toy_config.h"
#include "support/catch.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

std::string laid_over(const std::string& base, const std::string& patch) {
  return one_line(overlay(parse_yaml(base, "base"), parse_yaml(patch, "patch")));
}

std::string changes(const std::string& before, const std::string& after) {
  std::string text;
  for (const auto& [path, old_value, new_value] : differences(parse_yaml(before, "a"), parse_yaml(after, "b")))
    text += (text.empty() ? "" : "; ") + path + ": " + old_value + " > " + new_value;
  return text;
}

/// Random trees, the same on every machine.
class TreeMaker {
 public:
  explicit TreeMaker(uint64_t seed) : state_(seed) {}

  Tree make(int depth) {
    const auto choice = below(depth > 3 ? 4 : 8);
    if (choice == 0) return Tree();
    if (choice < 4) return Tree::scalar(text(), below(2) == 0);
    Tree tree = choice < 6 ? Tree::list() : Tree::map();
    const auto size = below(4);
    for (uint64_t i = 0; i < size; ++i) {
      if (tree.is_list()) {
        tree.items.push_back(make(depth + 1));
      } else {
        tree[text()] = make(depth + 1);
      }
    }
    return tree;
  }

 private:
  uint64_t below(uint64_t limit) { return (state_ = mix(state_)) % limit; }

  std::string text() {
    static const std::vector<std::string> pieces{
        "a",    "B",    "1",   "-",   ".",  "0",  "e",    " ",    ":",    "#",  "'",        "\"",
        "\\",   "\n",   "\t",  "[",   "]",  "{",  "}",    ",",    "&",    "*",  "!",        "|",
        ">",    "%",    "@",   "`",   "?",  "<<", "~",    "null", "true", "no", "\xc3\xa9", "\xe2\x82\xac",
        "\x01", "\x7f", "---", "...", "\r", "=",  "1e-3", "0x1",  "_"};
    std::string text;
    for (auto count = below(5); count > 0; --count) text += pieces[below(pieces.size())];
    return text;
  }

  uint64_t state_;
};

}  // namespace

TEST_CASE("maps merge key by key, and everything else is replaced", "[core][config]") {
  CHECK(laid_over("{a: 1, b: {c: 2, d: 3}}", "{b: {d: 4, e: 5}, f: 6}") == "{a: 1, b: {c: 2, d: 4, e: 5}, f: 6}");
  CHECK(laid_over("{a: [1, 2, 3]}", "{a: [4]}") == "{a: [4]}");
  CHECK(laid_over("{a: {b: 1}}", "{a: 3}") == "{a: 3}");
  CHECK(laid_over("{a: 3}", "{a: {b: 1}}") == "{a: {b: 1}}");
  CHECK(laid_over("{a: 1}", "{a: }") == "{a: null}");
}

TEST_CASE("a map whose kind changes drops the settings of the old kind", "[core][config]") {
  CHECK(laid_over("{norm: {kind: soft, eps: 1}}", "{norm: {kind: hard}}") == "{norm: {kind: hard}}");
  CHECK(laid_over("{norm: {kind: soft, eps: 1}}", "{norm: {kind: soft, gain: false}}") ==
        "{norm: {kind: soft, eps: 1, gain: false}}");
  CHECK(laid_over("{norm: {kind: soft, eps: 1}}", "{norm: {gain: false}}") ==
        "{norm: {kind: soft, eps: 1, gain: false}}");
  CHECK(laid_over("{a: {kind: x, b: {kind: y, c: 1}}}", "{a: {b: {kind: z}}}") == "{a: {kind: x, b: {kind: z}}}");
}

TEST_CASE("overrides do not depend on whether the kind or its setting comes first", "[core][config]") {
  const auto kind = parse_assignment("norm.kind=hard"), limit = parse_assignment("norm.limit=0.5");
  const auto base = to_tree(ToyConfig{});
  for (const auto& patch : {overlay(kind, limit), overlay(limit, kind)})
    CHECK(std::get<HardNorm>(read_config<ToyConfig>(overlay(base, patch)).norm).limit == 0.5);
}

TEST_CASE("an override names a dotted path and a value in YAML", "[core][config]") {
  CHECK(one_line(parse_assignment("a.b.c=1e-3")) == "{a: {b: {c: 1e-3}}}");
  CHECK(one_line(parse_assignment("a={b: [1, 2]}")) == "{a: {b: [1, 2]}}");
  CHECK(one_line(parse_assignment("name=x=y")) == "{name: \"x=y\"}");
  CHECK(one_line(parse_assignment("name='no'")) == "{name: \"no\"}");
  CHECK(one_line(parse_assignment("name=")) == "{name: null}");
}

TEST_CASE("an override that cannot be read is named as it was given", "[core][error]") {
  for (const auto* text : {"", "=", "a", "=1", "a b"})
    CHECK_THROWS_WITH(parse_assignment(text),
                      StartsWith(std::string("--set ") + text + ": an override is written path=value"));
  for (const auto* text : {".a=1", "a.=1", "a..b=1", ".=1"})
    CHECK_THROWS_WITH(parse_assignment(text), ContainsSubstring("is not a dotted path such as train.steps"));
  CHECK_THROWS_WITH(parse_assignment("a=[1"), StartsWith("--set a=[1:1:"));
  CHECK_THROWS_WITH(parse_assignment("a={b: 1, b: 2}"), ContainsSubstring("the key 'b' is repeated"));
  CHECK_THROWS_WITH(read_config<ToyConfig>(parse_assignment("train.steps=x")),
                    StartsWith("--set train.steps=x: train.steps: must be a whole decimal number"));
  CHECK_THROWS_WITH(
      read_config<ToyConfig>(parse_assignment("train.lr=1")),
      StartsWith("--set train.lr=1: train.lr: no such key") && ContainsSubstring("did you mean 'train.optimizer.lr'?"));
  CHECK_THROWS_WITH(read_config<ToyConfig>(parse_assignment("seeds.0=1")), ContainsSubstring("seeds: must be a list"));
}

TEST_CASE("differences are the leaves that differ", "[core]") {
  CHECK(changes("{a: 1, b: {c: 2}}", "{a: 1, b: {c: 2}}") == "");
  CHECK(changes("{a: 1, b: {c: 2, d: 3}}", "{a: 1, b: {c: 5, d: 3}}") == "b.c: 2 > 5");
  CHECK(changes("{a: 1}", "{b: 2}") == "a: 1 > ; b:  > 2");
  CHECK(changes("{norm: {kind: soft, eps: 1}}", "{norm: {kind: hard, limit: 2}}") ==
        "norm: {kind: soft, eps: 1} > {kind: hard, limit: 2}");
  CHECK(changes("{norm: {kind: soft, eps: 1}}", "{norm: {kind: soft, eps: 2}}") == "norm.eps: 1 > 2");
  CHECK(changes("{a: [1, 2]}", "{a: [1, 3]}") == "a: [1, 2] > [1, 3]");
  CHECK(changes("{a: {b: 1}}", "{a: 1}") == "a: {b: 1} > 1");
  CHECK(changes("{a: '1'}", "{a: 1}") == "");
}

TEST_CASE("a value is found by its dotted path, through lists", "[core]") {
  const auto tree = parse_yaml("{a: {b: [x, {c: y}]}}", "f.yaml");
  CHECK(tree.deepest("a.b.1.c").text == "y");
  CHECK(tree.deepest("a.b.0").text == "x");
  CHECK(tree.deepest("a.b.7.c").is_list());
  CHECK(tree.deepest("a.q.c").is_map());
  CHECK(tree.deepest("").is_map());
}

TEST_CASE("any tree is written as YAML that reads back to it, and is written the same again", "[core][config]") {
  int checked = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Tree tree = TreeMaker(seed).make(0);
    const auto text = write_yaml(tree);
    Tree again;
    try {
      again = parse_yaml(text, "written");
    } catch (const ConfigError& error) {
      FAIL("seed " << seed << ": " << error.what() << "\n" << text);
    }
    if (!(again == tree) || write_yaml(again) != text || one_line(parse_yaml(one_line(tree), "line")) != one_line(tree))
      FAIL("seed " << seed << ":\n"
                   << text << "\nread back as\n"
                   << write_yaml(again) << "\none line\n"
                   << one_line(tree));
    ++checked;
  }
  CHECK(checked == 2000);
}

TEST_CASE("bytes changed at random in a valid file are read or refused, and never crash", "[core][error]") {
  const std::string valid = R"(# a run
name: &n first
tied: true
seeds: [1, 2, 1e3]
norm: {kind: soft, eps: 1.0e-5}
last_norm:
  kind: hard
  limit: .5
train:
  steps: 100
  optimizer:
    <<: {decay: 0.1}
    lr: 3e-4
free:
  - *n
  - |
    text
  - "quoted \u00e9"
  - 'it''s'
)";
  read_toy(valid);
  uint64_t state = 7;
  const auto below = [&](size_t limit) { return static_cast<size_t>((state = mix(state)) % limit); };
  int read = 0, refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = valid;
    for (size_t change = 1 + below(4); change > 0; --change) {
      static const std::string spice = ":-[]{},&*!|>'\"%@`?#\n\t\r <~0\\\x01\xff\xc3";
      const auto at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text[at] = spice[below(spice.size())];
          break;
        case 2:
          text.insert(at, 1, spice[below(spice.size())]);
          break;
        default:
          text.erase(at, 1 + below(8));
          break;
      }
    }
    try {
      const auto config = read_toy(text);
      if (!(to_tree(read_config<ToyConfig>(to_tree(config))) == to_tree(config))) FAIL(text);
      ++read;
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  CHECK(read > 100);
  CHECK(refused > 100);
}

}  // namespace blockzoo
