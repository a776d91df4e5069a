#include "blockzoo/data/stories.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "blockzoo/core/hash.h"
#include "support/bytes_of.h"
#include "support/catch.h"

namespace blockzoo {

namespace {

std::vector<int64_t> found(const std::string& text, const std::string& word) {
  std::vector<int64_t> places;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    places.push_back(static_cast<int64_t>(at));
  return places;
}

std::string name_of(const Story& story, size_t which) {
  const auto& mention = story.names[which].at(0);
  return story.text.substr(static_cast<size_t>(mention.first), static_cast<size_t>(mention.size));
}

}  // namespace

TEST_CASE("the stories are the same on every machine", "[data]") {
  std::string text;
  for (int64_t index = 0; index < 200; ++index) text += make_story({}, StoryPart::kTrain, index).text;
  CHECK(hex(hash_bytes(text)) == "f60dd2b4518e9ee4");
  CHECK(hex(open_corpus(StoriesConfig{.train_stories = 100, .validation_stories = 50}).hash) == "8195ae0ea21ec364");
}

TEST_CASE("seed, part and index each change a story", "[data]") {
  const auto story = make_story({}, StoryPart::kTrain, 0).text;
  CHECK(make_story({}, StoryPart::kTrain, 0).text == story);
  CHECK(make_story({}, StoryPart::kTrain, 1).text != story);
  CHECK(make_story({.seed = 1}, StoryPart::kTrain, 0).text != story);
  CHECK(make_story({}, StoryPart::kValidation, 0).text != story);
}

TEST_CASE("a story is one line of plain ASCII of a few hundred bytes", "[data]") {
  size_t total = 0;
  for (int64_t index = 0; index < 500; ++index) {
    const auto text = make_story({}, StoryPart::kTrain, index).text;
    REQUIRE(text.size() > 450);
    REQUIRE(text.size() < 1300);
    REQUIRE(text.back() == '\n');
    REQUIRE(text.find('\n') == text.size() - 1);
    REQUIRE(text.find('{') == text.npos);
    REQUIRE(text.find("  ") == text.npos);
    REQUIRE(std::all_of(text.begin(), text.end() - 1, [](char byte) { return byte >= ' ' && byte <= '~'; }));
    total += text.size();
  }
  CHECK(total / 500 > 750);
  CHECK(total / 500 < 850);
}

TEST_CASE("the choices in the stories hold the stated information", "[data]") {
  double nats = 0;
  size_t bytes = 0;
  for (int64_t index = 0; index < 2000; ++index) {
    const auto story = make_story({}, StoryPart::kTrain, index);
    nats += story.nats;
    bytes += story.text.size();
  }
  CHECK(std::abs(nats / static_cast<double>(bytes) - 0.134) < 0.001);
}

TEST_CASE("the mentions of a name are all its places in the text", "[data]") {
  for (int64_t index = 0; index < 1000; ++index) {
    const auto story = make_story({.seed = 9}, StoryPart::kTrain, index);
    REQUIRE(name_of(story, 0)[0] != name_of(story, 1)[0]);
    for (const size_t which : {0, 1}) {
      std::vector<int64_t> marked;
      for (const auto& mention : story.names[which]) marked.push_back(mention.first);
      INFO(story.text);
      REQUIRE(marked.size() >= 4);
      REQUIRE(marked == found(story.text, name_of(story, which)));
    }
  }
}

TEST_CASE("validation marks exactly the second and later mentions, each with the way back", "[data]") {
  const StoriesConfig config{.train_stories = 1, .validation_stories = 50};
  const auto source = open_corpus(config).validation;
  REQUIRE(source->has_lookback());
  std::vector<int64_t> lookback(static_cast<size_t>(source->size()));
  source->read_lookback(0, lookback);
  const auto text = bytes_of(*source);

  std::vector<int64_t> expected(lookback.size(), 0);
  size_t start = 0;
  for (int64_t index = 0; index < config.validation_stories; ++index) {
    const auto story = make_story(config, StoryPart::kValidation, index);
    REQUIRE(text.compare(start, story.text.size(), story.text) == 0);
    for (const size_t which : {0, 1}) {
      const auto name = name_of(story, which);
      const auto places = found(story.text, name);
      for (size_t i = 1; i < places.size(); ++i) {
        for (size_t byte = 0; byte < name.size(); ++byte)
          expected[start + static_cast<size_t>(places[i]) + byte] =
              places[i] + static_cast<int64_t>(byte) - places[i - 1];
      }
    }
    start += story.text.size();
  }
  CHECK(lookback == expected);

  const auto marked =
      static_cast<double>(expected.size() - static_cast<size_t>(std::count(expected.begin(), expected.end(), 0)));
  CHECK(marked / static_cast<double>(expected.size()) > 0.12);
  CHECK(marked / static_cast<double>(expected.size()) < 0.17);

  std::vector<int64_t> part(100);
  source->read_lookback(1234, part);
  CHECK(std::equal(part.begin(), part.end(), expected.begin() + 1234));
}

TEST_CASE("no pair of names is in both parts, so no story is", "[data]") {
  const auto pairs = [](StoryPart part, int64_t stories) {
    std::set<std::pair<std::string, std::string>> all;
    for (int64_t index = 0; index < stories; ++index) {
      const auto story = make_story({}, part, index);
      auto a = name_of(story, 0), b = name_of(story, 1);
      if (b < a) std::swap(a, b);
      all.emplace(a, b);
    }
    return all;
  };
  const auto train = pairs(StoryPart::kTrain, 16384);
  const auto validation = pairs(StoryPart::kValidation, 512);
  CHECK(train.size() > 16300);  // names are drawn from thousands
  CHECK(validation.size() == 512);
  for (const auto& pair : validation) CHECK(train.count(pair) == 0);
}

TEST_CASE("training stories have no marks", "[data]") {
  const auto corpus = open_corpus(StoriesConfig{.train_stories = 2, .validation_stories = 2});
  CHECK_FALSE(corpus.train->has_lookback());
  std::vector<int64_t> lookback(50, 7);
  corpus.train->read_lookback(0, lookback);
  CHECK(lookback == std::vector<int64_t>(50, 0));
}

TEST_CASE("reading past the end of the stories is refused", "[data][error]") {
  const auto corpus = open_corpus(StoriesConfig{.train_stories = 1, .validation_stories = 1});
  std::vector<int64_t> tokens(10);
  CHECK_THROWS_AS(corpus.train->read(corpus.train->size() - 9, tokens), std::out_of_range);
  CHECK_THROWS_AS(corpus.train->read(-1, tokens), std::out_of_range);
  CHECK_NOTHROW(corpus.train->read(corpus.train->size() - 10, tokens));
}

}  // namespace blockzoo
