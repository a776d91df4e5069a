#include "data/story_information.h"

#include <cmath>
#include <map>
#include <numeric>

#include "blockzoo/data/batches.h"
#include "blockzoo/data/corpus.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

TEST_CASE("A story read byte by byte holds what its draws held, so they can be told from the text", "[data][entropy]") {
  for (const auto part : {StoryPart::kTrain, StoryPart::kValidation}) {
    for (int64_t index = 0; index < 100; ++index) {
      const auto story = make_story({.seed = 5}, part, index);
      const auto nats = information_of(story.text);
      INFO(story.text);
      REQUIRE(nats.size() == story.text.size());
      REQUIRE(std::abs(sum(nats) - story.nats) < 1e-9);
      REQUIRE(std::all_of(nats.begin(), nats.end(), [](double value) { return value > -1e-12; }));
    }
  }
}

TEST_CASE("The probabilities of all bytes that may follow add up to one", "[data][entropy]") {
  const auto text = make_story({}, StoryPart::kTrain, 3).text;
  for (const size_t size : {0, 1, 5, 30, 60, 100, 150, 151, 152, 200, 300, 301, 302, 303, 400}) {
    double total = 0;
    for (int byte = 1; byte < 127; ++byte) {
      try {
        total += std::exp(-information_of(text.substr(0, size) + static_cast<char>(byte)).back());
      } catch (const std::invalid_argument&) {  // cannot follow
      }
    }
    INFO(text.substr(0, size));
    CHECK(std::abs(total - 1) < 1e-12);
  }
}

TEST_CASE("Bytes come as often as their information says", "[data][entropy]") {
  constexpr int64_t stories = 4000;
  constexpr size_t shown = 4;  // bytes of the first name's start, in the opening that begins with it
  std::map<std::string, int64_t> counts;
  for (int64_t index = 0; index < stories; ++index)
    ++counts[make_story({}, StoryPart::kTrain, index).text.substr(0, shown)];
  double chi_squared = 0;
  int64_t kinds = 0, rest = stories;
  double rest_expected = stories;
  for (const auto& [begin, count] : counts) {
    const double expected = stories * std::exp(-sum(information_of(begin)));
    if (expected < 100) continue;
    chi_squared += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
    rest -= count;
    rest_expected -= expected;
    ++kinds;
  }
  REQUIRE(kinds == 2);  // "Once" and "In a"; names are too many to be frequent
  chi_squared +=
      (static_cast<double>(rest) - rest_expected) * (static_cast<double>(rest) - rest_expected) / rest_expected;
  CHECK(chi_squared < 13.8);  // 2 degrees of freedom: exceeded once in a thousand
}

TEST_CASE("A text that no story begins with is refused", "[data][entropy][error]") {
  CHECK_THROWS_WITH(information_of("Onca"), Catch::Matchers::ContainsSubstring("no story begins with 'Onca'"));
  const auto story = make_story({}, StoryPart::kTrain, 0).text;
  CHECK_THROWS_AS(information_of(story + "O"), std::invalid_argument);
}

TEST_CASE("Windows hold the information of their targets, and all windows nearly that of the text", "[data][entropy]") {
  const StoriesConfig config{.train_stories = 1, .validation_stories = 6};
  const auto source = open_corpus(config).validation;
  double nats = 0;
  std::vector<double> by_byte;
  for (int64_t index = 0; index < config.validation_stories; ++index) {
    const auto story = make_story(config, StoryPart::kValidation, index);
    nats += story.nats;
    const auto own = information_of(story.text);
    by_byte.insert(by_byte.end(), own.begin(), own.end());
  }
  const std::vector<int64_t> whole{0};
  CHECK(std::abs(*source->information(whole, source->size()) - nats) < 1e-8);
  const std::vector<int64_t> firsts{3, 700, 1500};
  double expected = 0;
  for (const auto first : firsts)
    expected = std::accumulate(by_byte.begin() + first, by_byte.begin() + first + 200, expected);
  CHECK(std::abs(*source->information(firsts, 200) - expected) < 1e-9);
  CHECK_THROWS_AS(source->information(firsts, source->size()), std::out_of_range);

  const ValidationWindows all(source, 50, 0);
  CHECK(std::abs(*all.entropy_bound() * static_cast<double>(all.tokens()) - nats) < 40);  // the first byte and the end
}

TEST_CASE("Text that nobody generated has no entropy bound", "[data][entropy]") {
  const TemporaryFolder folder;
  const auto corpus =
      open_corpus(TextConfig{.path = folder.write("a.txt", std::string(500, 'a') + "b"), .validation = {}});
  CHECK_FALSE(ValidationWindows(corpus.validation, 10, 2).entropy_bound());
}

}  // namespace blockzoo
