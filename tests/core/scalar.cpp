#include "core/scalar.h"

#include <bit>
#include <cmath>
#include <limits>

#include "blockzoo/core/hash.h"
#include "core/toy_config.h"
#include "support/catch.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

namespace {

double rate(const std::string& text) { return read_toy("train: {optimizer: {lr: " + text + "}}").train.optimizer.lr; }
int64_t steps(const std::string& text) { return read_toy("train: {steps: " + text + "}").train.steps; }
std::string rate_problem(const std::string& text) { return toy_problems("train: {optimizer: {lr: " + text + "}}"); }
std::string steps_problem(const std::string& text) { return toy_problems("train: {steps: " + text + "}"); }

}  // namespace

TEST_CASE("every spelling of a number is the same number", "[core][config]") {
  for (const auto* text : {"1e-4", "1E-4", "1.e-4", "1.0e-4", "0.0001", ".0001", "+1e-4", "10e-5"})
    CHECK(rate(text) == 1e-4);
  CHECK(rate(".5") == 0.5);
  CHECK(rate("5.") == 5.0);
  CHECK(rate("1e+4") == 10000.0);
  CHECK(rate("3") == 3.0);
}

TEST_CASE("an override and a list read numbers as a file does", "[core][config]") {
  for (const auto* text : {"1e-4", "1E-4", ".0001", "1.e-4"}) {
    const auto tree = parse_assignment(std::string("train.optimizer.lr=") + text);
    CHECK(read_config<ToyConfig>(tree).train.optimizer.lr == 1e-4);
  }
  CHECK(read_toy("seeds: [1e3, 2.0, +3]").seeds == std::vector<int64_t>{1000, 2, 3});
}

TEST_CASE("a whole number may be spelled as any number that is whole", "[core][config]") {
  CHECK(steps("1e3") == 1000);
  CHECK(steps("1.5e1") == 15);
  CHECK(steps("2.0") == 2);
  CHECK(steps("+3") == 3);
  CHECK(steps("4294967297") == 4294967297);
  CHECK(steps("9223372036854775807") == std::numeric_limits<int64_t>::max());
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<int64_t>::min());
  CHECK(parse_integer("-0") == 0);
}

TEST_CASE("what is no whole decimal number is refused where one is asked for", "[core][error]") {
  for (const auto* text : {"1.5",
                           "010",
                           "00",
                           "0x10",
                           "0o10",
                           "0b1",
                           "1_000",
                           "99999999999999999999",
                           "9223372036854775808",
                           "1e400",
                           "1e-1",
                           "3abc",
                           "abc",
                           ".nan",
                           ".inf",
                           "-.inf",
                           "nan",
                           "inf",
                           "true",
                           "'3'",
                           "\"3\"",
                           "'3 '",
                           "12:30",
                           "[3]",
                           "{a: 3}",
                           "",
                           "~",
                           "null",
                           "1e",
                           "e1",
                           ".",
                           "-",
                           "+",
                           "1e+",
                           "--1",
                           "1.2.3",
                           "½",
                           "9007199254740993.0",
                           "9.3e18"}) {
    INFO(text);
    CHECK_THAT(steps_problem(text), ContainsSubstring("toy.yaml:1: train.steps: must be a whole "));
  }
  CHECK_THAT(toy_problems("train:\n  steps: 1,000\n"),
             ContainsSubstring("toy.yaml:2: train.steps: must be a whole decimal number"));
  CHECK_THAT(steps_problem("-1"), ContainsSubstring("train.steps: is -1; must be a number above 0"));
  CHECK_THAT(steps_problem("0"), ContainsSubstring("train.steps: is 0; must be a number above 0"));
  CHECK_THAT(steps_problem("-0"), ContainsSubstring("must be a number above 0"));
}

TEST_CASE("what is no finite decimal number is refused where one is asked for", "[core][error]") {
  for (const auto* text :
       {"1_000.0", "010.5",    "0x1p3",  "1e400", "-1e400", ".nan", ".NaN", ".inf", "+.inf",  "-.Inf", "nan",
        "inf",     "infinity", "'1e-4'", "1e-4f", "true",   "off",  "",     "~",    "1e-4 x", "１"}) {
    INFO(text);
    CHECK_THAT(rate_problem(text), ContainsSubstring("toy.yaml:1: train.optimizer.lr: must be a "));
  }
  CHECK_THAT(
      toy_problems("train:\n  optimizer:\n    lr: 1,5\n"),
      ContainsSubstring("toy.yaml:3: train.optimizer.lr: must be a decimal number such as 0.1 or 1e-4, not '1,5'"));
  CHECK_THAT(rate_problem("-0"), ContainsSubstring("is -0; must be a number above 0"));
}

TEST_CASE("minus zero is zero, so that equal settings are written and hashed alike", "[core][config]") {
  const auto config = read_toy("train: {optimizer: {decay: -0.0}}");
  CHECK_FALSE(std::signbit(config.train.optimizer.decay));
  CHECK(write_yaml(to_tree(config)) == write_yaml(to_tree(ToyConfig{})));
}

TEST_CASE("true and false are the only booleans", "[core][config]") {
  CHECK(read_toy("tied: true").tied);
  CHECK_FALSE(read_toy("tied: false").tied);
  for (const auto* text :
       {"no", "yes", "Off", "on", "y", "n", "'false'", "\"true\"", "0", "1", "True", "FALSE", "", "~", "[true]"}) {
    INFO(text);
    CHECK_THAT(toy_problems(std::string("tied: ") + text),
               ContainsSubstring("toy.yaml:1: tied: must be true or false, not "));
  }
}

TEST_CASE("text keeps its spelling, whatever other YAML readers take it for", "[core][config]") {
  for (const auto* text : {"no", "NO", "Off", "y", "on", "1e-4", "010", "0x10", "12:30", "1_000", "true", "2026-10-17",
                           ".inf", "3 4", "a#b"}) {
    INFO(text);
    const auto config = read_toy(std::string("name: ") + text);
    CHECK(config.name == text);
    const auto written = write_yaml(to_tree(config));
    CHECK(read_toy(written).name == text);
    CHECK(parse_yaml(written, "again").find("name")->quoted);  // a 1.1 reader takes it for text as well
  }
  CHECK(read_toy("name: 'null'").name == "null");
  CHECK_THAT(toy_problems("name: null"), ContainsSubstring("name: must be text, not nothing"));
  CHECK_THAT(toy_problems("on: 1"), ContainsSubstring("toy.yaml:1: on: no such key"));
}

TEST_CASE("an enum takes its names and nothing that resembles them", "[core][error]") {
  CHECK(read_toy("shade: dark").shade == Shade::kDark);
  CHECK(read_toy("shade: 'dark'").shade == Shade::kDark);
  for (const auto* text : {"off", "no", "Dark", "true", "1", "", "[dark]", "{kind: dark}"}) {
    INFO(text);
    CHECK_THAT(toy_problems(std::string("shade: ") + text),
               ContainsSubstring("toy.yaml:1: shade: is ") && ContainsSubstring("one of: light, dark"));
  }
  CHECK_THAT(toy_problems("shade: drak"), ContainsSubstring("did you mean 'dark'?"));
}

TEST_CASE("a written number reads back to the same bits, in a spelling that YAML 1.1 takes for a float",
          "[core][config]") {
  std::vector<double> values{0.1234567890123456,
                             3.0000000000000004e-4,
                             1e-5,
                             1e-4,
                             1.0,
                             1e22,
                             1e300,
                             5e-324,
                             1.7976931348623157e308,
                             1.0 / 3,
                             0.0,
                             123456789.0};
  uint64_t state = 1;
  while (values.size() < 20000) {
    state = mix(state);
    const auto value = std::bit_cast<double>(state);
    if (std::isfinite(value)) values.push_back(value);
  }
  size_t wrong = 0;
  for (const auto value : values) {
    const auto text = write_number(value);
    const auto exponent = text.find('e');
    const bool is_float =
        text.find('.') < exponent && (exponent == text.npos || text[exponent + 1] == '-' || text[exponent + 1] == '+');
    const auto again = parse_number(text);
    if (!is_float || !again || std::bit_cast<uint64_t>(*again) != std::bit_cast<uint64_t>(value + 0.0)) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(write_number(1e-5) == "1.0e-05");
  CHECK(write_number(1) == "1.0");
}

TEST_CASE("a written config reads back, and is written and hashed the same, any number of times", "[core][config]") {
  auto text = write_yaml(to_tree(read_toy(
      "train: {optimizer: {lr: 0.1234567890123456, decay: 3.0000000000000004e-4}}\nname: 'no'\nseeds: [3, 1e3]")));
  const auto first = text;
  for (int i = 0; i < 5; ++i) {
    const auto config = read_toy(text);
    CHECK(config.train.optimizer.lr == 0.1234567890123456);
    text = write_yaml(to_tree(config));
    CHECK(text == first);
    CHECK(hash_bytes(text) == hash_bytes(first));
  }
}

}  // namespace blockzoo
