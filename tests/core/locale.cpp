#include <clocale>
#include <locale>
#include <sstream>

#include "core/toy_config.h"
#include "support/catch.h"

namespace blockzoo {
namespace {

struct CommaDecimals : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// Both locales as before, whatever happens between.
class LocaleKeeper {
 public:
  LocaleKeeper() : c_(std::setlocale(LC_ALL, nullptr)) {}
  ~LocaleKeeper() {
    std::locale::global(cpp_);
    std::setlocale(LC_ALL, c_.c_str());
  }

 private:
  const std::string c_;
  const std::locale cpp_;
};

void check_numbers() {
  const auto config = read_toy("train: {steps: 1234567, optimizer: {lr: 1.5e-4, decay: 0.25}}\nseeds: [12345]");
  CHECK(config.train.optimizer.lr == 1.5e-4);
  CHECK(config.train.optimizer.decay == 0.25);
  const auto text = write_yaml(to_tree(config));
  CHECK(text.find("steps: 1234567\n") != std::string::npos);
  CHECK(text.find("decay: 0.25\n") != std::string::npos);
  CHECK(to_tree(read_toy(text)) == to_tree(config));
  CHECK(toy_problems("train:\n  optimizer:\n    lr: 1,5\n") != "");
  CHECK(toy_problems("name: a\ntied: 3\n").find("toy.yaml:2: tied") == 0);
}

}  // namespace

TEST_CASE("a C++ locale with decimal commas changes no number", "[core][config]") {
  const LocaleKeeper keeper;
  std::locale::global(std::locale(std::locale::classic(), new CommaDecimals));
  std::ostringstream shown;
  shown << 1234.5;
  REQUIRE(shown.str() == "1.234,5");
  check_numbers();
}

TEST_CASE("a C locale with decimal commas changes no number", "[core][config]") {
  const LocaleKeeper keeper;
  const char* set = nullptr;
  for (const auto* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"}) {
    if ((set = std::setlocale(LC_ALL, name)) != nullptr) break;
  }
  if (set == nullptr)
    WARN("no locale with decimal commas is installed here; the C++ locale of the other test stands for it");
  check_numbers();
}

}  // namespace blockzoo
