#include "blockzoo/data/corpus.h"

#include "core/reader.h"
#include "core/writer.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

namespace {

DataConfig read(const std::string& yaml) { return read_config<DataConfig>(parse_yaml(yaml, "data.yaml")); }

std::string problems(const std::string& yaml) {
  try {
    read(yaml);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("an empty data section is the generated stories", "[data]") {
  const auto config = read("{}");
  REQUIRE(std::holds_alternative<StoriesConfig>(config.corpus));
  CHECK(vocabulary_size(config.corpus) == 256);
}

TEST_CASE("every kind of corpus reads back from what is written", "[data][contract]") {
  for (const std::string yaml :
       {"corpus: {kind: stories, seed: 3, train_stories: 10, validation_stories: 2}",
        "corpus: {kind: text, path: a, validation: {kind: tail, fraction: 0.25}}",
        "corpus: {kind: text, path: a, validation: {kind: path, path: b}}",
        "corpus: {kind: tokens, path: a, dtype: uint32, vocabulary: 100000, bytes_per_token: 4.5}"}) {
    const auto tree = to_tree(read(yaml + "\nseed: 5\nvalidation_windows: 7"));
    CHECK(to_tree(read_config<DataConfig>(tree)) == tree);
    CHECK_THAT(write_yaml(tree), ContainsSubstring("validation_windows: 7"));
  }
}

TEST_CASE("the vocabulary is known before any file is opened", "[data]") {
  CHECK(vocabulary_size(read("corpus: {kind: text, path: none}").corpus) == 256);
  CHECK(vocabulary_size(read("corpus: {kind: tokens, path: none, vocabulary: 1000}").corpus) == 1000);
}

TEST_CASE("settings that cannot be are refused with their place", "[data][error]") {
  CHECK_THAT(problems("corpus: {kind: text}"),
             ContainsSubstring("data.yaml:1: corpus.path: is missing; give a file or a folder"));
  CHECK_THAT(problems("corpus: {kind: tokens}"), ContainsSubstring("corpus.path: is missing"));
  CHECK_THAT(problems("corpus: {kind: text, path: a, validation: {kind: path}}"),
             ContainsSubstring("corpus.validation.path: is missing"));
  CHECK_THAT(problems("corpus: {kind: text, path: a, validation: {fraction: 1}}"),
             ContainsSubstring("above 0 and below 1"));
  CHECK_THAT(problems("corpus: {kind: text, path: a, validation: {fraction: 0}}"),
             ContainsSubstring("above 0 and below 1"));
  CHECK_THAT(problems("corpus: {kind: text, path: a, validation: {kind: path, path: b, fraction: 0.1}}"),
             ContainsSubstring("does not apply to kind path; it is a key of: tail"));
  CHECK_THAT(problems("corpus: {kind: tokens, path: a, dtype: int16}"), ContainsSubstring("one of: uint16, uint32"));
  CHECK_THAT(problems("corpus: {kind: tokens, path: a, vocabulary: 65537}"),
             ContainsSubstring("uint16 holds ids up to 65535"));
  CHECK(problems("corpus: {kind: tokens, path: a, vocabulary: 65536}") == "none");
  CHECK(problems("corpus: {kind: tokens, path: a, vocabulary: 65537, dtype: uint32}") == "none");
  CHECK_THAT(problems("corpus: {kind: tokens, path: a, vocabulary: 5e9, dtype: uint32}"),
             ContainsSubstring("at most 4294967296"));
  CHECK_THAT(problems("corpus: {kind: stories, train_stories: 0}"), ContainsSubstring("from 1 to 1000000"));
  CHECK_THAT(problems("seed: -1"), ContainsSubstring("0 or more"));
}

TEST_CASE("relative paths are seen from the folder of the config", "[data]") {
  auto config = read("corpus: {kind: text, path: ../texts/a.txt, validation: {kind: path, path: /data/b.txt}}");
  resolve_paths(config.corpus, "/home/me/studies");
  const auto& text = std::get<TextConfig>(config.corpus);
  CHECK(text.path == "/home/me/texts/a.txt");
  CHECK(std::get<PathValidationConfig>(text.validation).path == "/data/b.txt");

  CorpusConfig stories = StoriesConfig{};
  CHECK(paths_of(stories).empty());
  CHECK_NOTHROW(resolve_paths(stories, "/home"));
  CorpusConfig tokens = TokensConfig{};
  CHECK(paths_of(tokens).size() == 1);
}

TEST_CASE("a corpus opens through its family", "[data]") {
  const TemporaryFolder folder;
  CorpusConfig config = TextConfig{"text", {}};
  folder.write("text", "some bytes");
  resolve_paths(config, folder.path());
  CHECK(open_corpus(config).train->size() == 9);
  config = StoriesConfig{.train_stories = 1, .validation_stories = 1};
  CHECK(open_corpus(config).validation->has_lookback());
}

}  // namespace blockzoo
