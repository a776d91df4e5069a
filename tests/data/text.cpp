#include "blockzoo/data/text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "blockzoo/data/windows.h"
#include "support/bytes_of.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

namespace {

std::string counting(size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) text += static_cast<char>(i);
  return text;
}

}  // namespace

TEST_CASE("the end of a text is kept for validation and no byte is in both parts", "[data]") {
  const TemporaryFolder folder;
  const auto text = counting(1000);
  const auto path = folder.write("text", text);
  const auto corpus = open_corpus(TextConfig{path, TailValidationConfig{0.25}});
  CHECK(bytes_of(*corpus.train) == text.substr(0, 750));
  CHECK(bytes_of(*corpus.validation) == text.substr(750));
  CHECK(corpus.vocabulary == 256);
  CHECK(corpus.bytes_per_token == 1.0);
  CHECK_FALSE(corpus.validation->has_lookback());
  std::vector<int64_t> two(2);
  CHECK_THROWS_AS(corpus.train->read(749, two), std::out_of_range);
  CHECK_THROWS_AS(corpus.validation->read(-1, two), std::out_of_range);
}

TEST_CASE("training windows and validation windows have no target in common", "[data]") {
  for (const int64_t size : {80, 97, 330, 1000}) {
    const TemporaryFolder folder;
    const auto corpus =
        open_corpus(TextConfig{folder.write("text", counting(static_cast<size_t>(size))), TailValidationConfig{0.5}});
    const WindowOrder order(corpus.train->size(), 32, 0);
    int64_t last = 0;
    for (int64_t position = 0; position < 3000; ++position) last = std::max(last, order.start(position) + 32);
    CHECK(last == corpus.train->size() - 1);
    CHECK(corpus.train->size() + corpus.validation->size() == size);
  }
}

TEST_CASE("bytes above 127 and zeros are tokens like any other", "[data]") {
  const TemporaryFolder folder;
  const auto corpus = open_corpus(TextConfig{folder.write("binary", counting(256) + "x"), TailValidationConfig{0.001}});
  std::vector<int64_t> tokens(256);
  corpus.train->read(0, tokens);
  for (int64_t i = 0; i < 256; ++i) CHECK(tokens[static_cast<size_t>(i)] == i);
  CHECK(bytes_of(*corpus.validation) == "x");  // at least one
}

TEST_CASE("validation may have a file or folder of its own", "[data]") {
  const TemporaryFolder folder;
  const auto train = folder.write("train.txt", "to train on");
  folder.write("held_out/a.txt", "to ");
  folder.write("held_out/b.txt", "validate on");
  const auto corpus = open_corpus(TextConfig{train, PathValidationConfig{folder / "held_out"}});
  CHECK(bytes_of(*corpus.train) == "to train on");
  CHECK(bytes_of(*corpus.validation) == "to validate on");
  CHECK(corpus.train->name() == "training data (" + train.string() + ")");
  CHECK(corpus.validation->name() == "validation data (" + (folder / "held_out").string() + ")");
}

TEST_CASE("validation data that is training data is refused", "[data][error]") {
  const TemporaryFolder folder;
  const auto train = folder.write("all/train.txt", "the same text");
  folder.write("all/more.txt", "more text");
  const auto copy = folder.write("copy.txt", "the same text");
  const auto open = [](const std::string& path, const std::string& validation) {
    return open_corpus(TextConfig{path, PathValidationConfig{validation}});
  };
  CHECK_THROWS_WITH(open(train, train), ContainsSubstring("is in the training data"));
  CHECK_THROWS_WITH(open(train, folder / "all/../all/train.txt"), ContainsSubstring("is in the training data"));
  CHECK_THROWS_WITH(open(folder / "all", train), ContainsSubstring("is in the training data"));
  CHECK_THROWS_WITH(open(train, copy),
                    ContainsSubstring("copy.txt: has the same contents as the training data (" + train.string()));
}

TEST_CASE("a missing or empty text is refused with its path", "[data][error]") {
  const TemporaryFolder folder;
  const auto empty = folder.write("empty.txt", "");
  const auto some = folder.write("some.txt", "some");
  CHECK_THROWS_WITH(open_corpus(TextConfig{folder / "none", {}}),
                    ContainsSubstring("none: cannot be read: No such file"));
  CHECK_THROWS_WITH(open_corpus(TextConfig{empty, {}}), ContainsSubstring("empty.txt: is empty"));
  CHECK_THROWS_WITH(open_corpus(TextConfig{some, PathValidationConfig{empty}}),
                    ContainsSubstring("empty.txt: is empty"));
}

TEST_CASE("the hash of a corpus sees the text and the split, not the place", "[data]") {
  const TemporaryFolder folder;
  const auto a = folder.write("a", counting(500)), b = folder.write("b", counting(500)),
             c = folder.write("c", counting(501));
  const auto hash = [](const std::string& path, double fraction) {
    return open_corpus(TextConfig{path, TailValidationConfig{fraction}}).hash;
  };
  CHECK(hash(a, 0.1) == hash(b, 0.1));
  CHECK(hash(a, 0.1) != hash(a, 0.2));
  CHECK(hash(a, 0.1) != hash(c, 0.1));
  const auto separate = open_corpus(TextConfig{a, PathValidationConfig{c}}).hash;
  CHECK(separate != open_corpus(TextConfig{c, PathValidationConfig{a}}).hash);
  CHECK(separate != hash(a, 0.1));
}

}  // namespace blockzoo
