#include "core/toy_config.h"
#include "support/catch.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

/// For input on which a parser that recurses or doubles would die or never come back.
void check_refused(const std::string& yaml, const std::string& why) {
  CHECK_THAT(yaml_problem(yaml), StartsWith("f.yaml") && ContainsSubstring(why));
}

}  // namespace

TEST_CASE("a repeated key is refused with both lines, wherever it stands", "[core][error]") {
  CHECK(yaml_problem("a: 1\nb: 2\na: 3\n") == "f.yaml:3:1: the key 'a' is repeated; it stands on line 1 already");
  CHECK(yaml_problem("lr: 1\nlr: 1\n") == "f.yaml:2:1: the key 'lr' is repeated; it stands on line 1 already");
  CHECK_THAT(yaml_problem("model:\n  a: 1\nmodel:\n  b: 1\n"),
             ContainsSubstring("f.yaml:3:1: the key 'model'") && ContainsSubstring("line 1"));
  CHECK_THAT(yaml_problem("a: 1\n\"a\": 3\n"), ContainsSubstring("f.yaml:2:1: the key 'a'"));
  CHECK_THAT(yaml_problem("x: {a: 1, b: 2,\n 'a': 3}\n"),
             ContainsSubstring("f.yaml:2:2: the key 'a'") && ContainsSubstring("line 1"));
  CHECK_THAT(yaml_problem("sweep:\n  - {lr: 1, lr: 2}\n"), ContainsSubstring("f.yaml:2:13: the key 'lr'"));
  CHECK_THAT(yaml_problem("sweep:\n  - lr: 1\n    lr: 2\n"),
             ContainsSubstring("f.yaml:3:5: the key 'lr'") && ContainsSubstring("line 2"));
  CHECK(yaml_problem("a: {x: 1}\nb: {x: 1}\nc: [{x: 1}, {x: 2}]\n") == "");
}

TEST_CASE("anchors, aliases and merge keys are expanded", "[core][config]") {
  const auto tree = parse_yaml(
      "d: &d {a: 1, b: 2}\ne: &e {b: 5, c: 6}\nx: *d\ny: {<<: *d, b: 3}\nz:\n  c: 4\n  <<: [*d, *e]\n", "f.yaml");
  CHECK(one_line(*tree.find("x")) == "{a: 1, b: 2}");
  CHECK(one_line(*tree.find("y")) == "{b: 3, a: 1}");
  CHECK(one_line(*tree.find("z")) == "{c: 4, a: 1, b: 2}");
  CHECK(one_line(parse_yaml("a: &x 1e-3\nb: [*x, *x]\n", "f.yaml").deepest("b")) == "[1e-3, 1e-3]");
  CHECK(parse_yaml("'<<': 1\n", "f.yaml").find("<<")->text == "1");
}

TEST_CASE("aliases and merges that make no sense are refused", "[core][error]") {
  CHECK_THAT(yaml_problem("x: *y\n"), StartsWith("f.yaml:1:4: not YAML: the referenced anchor is not defined"));
  CHECK_THAT(yaml_problem("x:\n  <<: 3\n"), ContainsSubstring("f.yaml:2:7: << takes a map or a list of maps"));
  CHECK_THAT(yaml_problem("x:\n  <<: [3]\n"), ContainsSubstring("<< takes a map or a list of maps"));
  CHECK_THAT(yaml_problem("x:\n  <<:\n"), ContainsSubstring("<< takes a map or a list of maps"));
  CHECK_THAT(yaml_problem("d: &d {a: 1}\nx:\n  <<: *d\n  <<: *d\n"),
             ContainsSubstring("f.yaml:4:3: the key '<<' is repeated"));
  CHECK_THAT(yaml_problem("k: &k a\n*k : 1\na: 2\n"),
             ContainsSubstring("f.yaml:3:1: the key 'a' is repeated; it stands on line 2"));
  CHECK_THAT(yaml_problem("x: &x [*x]\n"),
             ContainsSubstring("f.yaml:1:8: an alias stands inside the value that it names"));
  CHECK_THAT(yaml_problem("m: &m {<<: *m}\n"),
             ContainsSubstring("f.yaml:1:12: an alias stands inside the value that it names"));
  for (const auto* yaml : {"a: !!str 1\n", "a: !mine [1]\n", "a: !!map {b: 1}\n"})
    CHECK_THAT(yaml_problem(yaml), ContainsSubstring("f.yaml:1:4: tags such as"));
}

TEST_CASE("aliases that multiply are refused before they fill the memory", "[core][error]") {
  std::string lists = "a0: &a0 x\n";
  std::string maps = "a0: &a0 {k: x}\n";
  for (int level = 1; level < 10; ++level) {
    const auto name = "a" + std::to_string(level), below = "*a" + std::to_string(level - 1);
    lists += name + ": &" + name + " [" + repeated(below + ", ", 9) + below + "]\n";
    maps += name + ": &" + name + " {";
    for (int i = 0; i < 10; ++i) maps += "k" + std::to_string(i) + ": " + below + ", ";
    maps += "}\n";
  }
  check_refused(lists, "more than 100000 values once aliases are expanded");
  check_refused(maps, "more than 100000 values once aliases are expanded");
  std::string nested = "x: ";
  for (int i = 0; i < 60; ++i) nested += "&n" + std::to_string(i) + " [";
  check_refused(nested + repeated("1,", 5000) + repeated("]", 60), "more than 100000 values");
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 2000; ++i)
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  check_refused(chain, "more than 100000 values");
}

TEST_CASE("deep nesting is refused and does not reach the end of the stack", "[core][error]") {
  for (const auto* part : {"[", "{a:", "{a: [", "[{"}) check_refused(repeated(part, 100'000), "nested");
  check_refused(repeated("[", 100'000) + repeated("]", 100'000), "nested far deeper than any config");
  check_refused("a: " + repeated("[", 65) + repeated("]", 65), "nested deeper than 64 levels");
  check_refused(repeated("- ", 50'000), "nested deeper than 64 levels");
  check_refused(repeated("? ", 50'000), "a key must be plain text");
  check_refused(repeated("- [", 50'000), "nested");
  check_refused(repeated("[ ", 1'000'000), "larger than 1 MiB");
  std::string indented;
  for (int i = 0; i < 1400; ++i) indented += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  check_refused(indented, "nested deeper than 64 levels");
  CHECK(yaml_problem("a: " + repeated("[", 60) + repeated("]", 60)) == "");
  CHECK_THROWS_WITH(parse_assignment("a=" + repeated("[", 100'000)),
                    StartsWith("--set a=") && ContainsSubstring("nested"));
}

TEST_CASE("large files that are no configs are refused or read, and neither hangs", "[core][error]") {
  check_refused(std::string(4 << 20, 'x'), "larger than 1 MiB");
  check_refused(repeated("&a ", 100'000), "cannot assign multiple anchors");
  check_refused(repeated("!a ", 100'000), "cannot assign multiple tags");
  check_refused(repeated("'", 100'001), "not YAML");
  check_refused("a: [" + repeated("x,", 200'000) + "]", "more than 100000 values");
  check_refused(std::string(500'000, 'k') + ": 1\n", "not YAML");
  std::string keys;
  for (int i = 0; i < 40'000; ++i) keys += "key" + std::to_string(i) + ": 1\n";
  CHECK(parse_yaml(keys, "f.yaml").entries.size() == 40'000);
}

TEST_CASE("a byte order mark, line ends and a missing last line feed do not matter", "[core][config]") {
  const std::string unix_text = "name: a\ntrain:\n  steps: 5  # five\n  optimizer: {lr: 1e-3}\nseeds:\n- 1\n- 2\n";
  const auto expected = to_tree(read_toy(unix_text));
  std::string windows_text;
  for (const char c : unix_text) windows_text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(to_tree(read_toy("\xef\xbb\xbf" + unix_text)) == expected);
  CHECK(to_tree(read_toy(windows_text)) == expected);
  CHECK(to_tree(read_toy("\xef\xbb\xbf" + windows_text)) == expected);
  CHECK(to_tree(read_toy(unix_text.substr(0, unix_text.size() - 1))) == expected);
  CHECK(to_tree(read_toy("---\n" + unix_text + "...\n")) == expected);
  CHECK(to_tree(read_toy("%YAML 1.2\n---\n" + unix_text)) == expected);
  CHECK(yaml_problem("\xef\xbb\xbf  a: 1\n b: 2\n").find("f.yaml:2:") == 0);
}

TEST_CASE("other encodings, control characters and lone carriage returns are refused with their place",
          "[core][error]") {
  CHECK_THAT(yaml_problem(std::string("\xff\xfe"
                                      "a\0:\0 \0"
                                      "1\0",
                                      10)),
             StartsWith("f.yaml:1:1: UTF-16"));
  CHECK_THAT(yaml_problem(std::string("\xfe\xff\0a\0:\0 \0"
                                      "1",
                                      10)),
             StartsWith("f.yaml:1:1: UTF-16"));
  CHECK_THAT(yaml_problem(std::string("a\0:\0 \0"
                                      "1\0",
                                      8)),
             StartsWith("f.yaml:1:2: a zero byte") && ContainsSubstring("UTF-16"));
  CHECK_THAT(yaml_problem(std::string("a: 1\nb: \0\n", 10)), StartsWith("f.yaml:2:4: a zero byte"));
  CHECK_THAT(yaml_problem("a: 1\nb: caf\xe9\n"), StartsWith("f.yaml:2:7: not UTF-8"));
  for (const auto* bytes :
       {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xff", "\xe0\x80\x80", "\xf0\x80\x80\x80"})
    CHECK_THAT(yaml_problem(std::string("a: ") + bytes), StartsWith("f.yaml:1:4: not UTF-8"));
  CHECK_THAT(yaml_problem("a: 1\x04\nb: 2\n"), StartsWith("f.yaml:1:5: a control character"));
  CHECK_THAT(yaml_problem("a: \x7f\n"), StartsWith("f.yaml:1:4: a control character"));
  CHECK_THAT(yaml_problem("a: 1\rb: 2\r"), StartsWith("f.yaml:1:5: a carriage return alone"));
  CHECK(parse_yaml("name: \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\n", "f.yaml").find("name")->text ==
        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST_CASE("a tab is refused as indentation and read everywhere else", "[core][error]") {
  const std::string why = "a tab stands in the indentation; use blanks";
  for (const auto* yaml : {"a:\n\tb: 1\n", "a:\n\t- 1\n", "a:\n\tvalue\n", "a:\n  \tb: 1\n", "a: 1\n\tb: 2\n",
                           "a: [\n\t1,\n\t2]\n", "a: {\n\tb: 2}\n"}) {
    INFO(yaml);
    CHECK_THAT(yaml_problem(yaml), StartsWith("f.yaml:2:") && ContainsSubstring(why));
  }
  CHECK_THAT(yaml_problem("\ta: 1\n"), StartsWith("f.yaml:1:") && ContainsSubstring(why));
  CHECK(one_line(parse_yaml("a:\t1\t\nb: [1,\t2]\t# c\n", "f.yaml")) == "{a: 1, b: [1, 2]}");
  CHECK(parse_yaml("a: |\n  x\n  \ty\n", "f.yaml").find("a")->text == "x\n\ty\n");
  CHECK(parse_yaml("a: \"x\n\ty\"\n", "f.yaml").find("a")->text == "x y");
}

TEST_CASE("files that are no map of keys are refused with their place", "[core][error]") {
  CHECK_THAT(toy_problems(""), StartsWith("toy.yaml:1:1: must be a map of keys and values, not nothing"));
  CHECK_THAT(toy_problems("# only\n# comments\n"),
             StartsWith("toy.yaml:1:1: must be a map of keys and values, not nothing"));
  CHECK_THAT(toy_problems("- a\n- b\n"), StartsWith("toy.yaml:1:1: must be a map of keys and values, not '[a, b]'"));
  CHECK_THAT(toy_problems("lr:1e-3"), StartsWith("toy.yaml:1:1: must be a map of keys and values, not "));
  CHECK_THAT(toy_problems("name: a\n---\nname: b\n"), StartsWith("toy.yaml:3:1: a second document"));
  CHECK_THAT(toy_problems("name: a\n...\nname: b\n"), ContainsSubstring("a second document"));
  CHECK(toy_problems("{}") == "");
}

TEST_CASE("what is almost YAML is refused with its place", "[core][error]") {
  CHECK_THAT(yaml_problem("a: 'x\nb: 1\n"), StartsWith("f.yaml:1:4: the quote is never closed"));
  CHECK_THAT(yaml_problem("a: 1\nb: \"x \\\" y\n"), StartsWith("f.yaml:2:4: the quote is never closed"));
  CHECK_THAT(yaml_problem("'a: 1\n"), StartsWith("f.yaml:1:1: "));
  CHECK(yaml_problem("a: 'it''s'\nb: \"x \\\" y\"\nc: ''\n") == "");
  CHECK_THAT(yaml_problem("a: [1, 2\n"), StartsWith("f.yaml:2:1: not YAML: "));
  CHECK_THAT(yaml_problem("a: b: c\n"), StartsWith("f.yaml:1:5: not YAML: "));
  CHECK_THAT(yaml_problem("a: 1\n  b: 2\n"), StartsWith("f.yaml:2:"));
  CHECK_THAT(yaml_problem("a:\n    b: 1\n  c: 2\n"), StartsWith("f.yaml:3:"));
  CHECK_THAT(yaml_problem("a: \"\\q\"\n"), StartsWith("f.yaml:1:7: not YAML: unknown escape"));
  CHECK_THAT(yaml_problem("? [a, b]\n: 1\n"), ContainsSubstring("a key must be plain text"));
  CHECK_THAT(yaml_problem("- a\nb: 1\n"),
             StartsWith("f.yaml:2:1: ") && ContainsSubstring("text after the end of the first"));
  CHECK_THAT(yaml_problem("\"a\":1\n"), ContainsSubstring("text after the end of the first"));
  CHECK_THAT(yaml_problem(": 1\n"), ContainsSubstring("a key must be plain text"));
}

TEST_CASE("a file that cannot be read is refused by name", "[core][error]") {
  CHECK_THROWS_WITH(load_yaml("/nonexistent/x.yaml"), StartsWith("/nonexistent/x.yaml: cannot be read: No such file"));
  CHECK_THROWS_WITH(load_yaml("/"), StartsWith("/: is a folder, not a file"));
  CHECK_THROWS_WITH(load_yaml("/dev/zero"), ContainsSubstring("larger than 1 MiB"));
}

}  // namespace blockzoo
