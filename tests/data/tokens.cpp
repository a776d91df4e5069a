#include "blockzoo/data/tokens.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "blockzoo/core/hash.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {

using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<int64_t> tokens_of(const TokenSource& source) {
  std::vector<int64_t> tokens(static_cast<size_t>(source.size()));
  source.read(0, tokens);
  return tokens;
}

TokensConfig uint16_file(const std::string& path, int64_t vocabulary = 65536) {
  return {.path = path,
          .validation = TailValidationConfig{0.5},
          .dtype = TokenType::kUint16,
          .vocabulary = vocabulary,
          .bytes_per_token = {}};
}

TokensConfig uint32_file(const std::string& path, int64_t vocabulary) {
  return {.path = path,
          .validation = TailValidationConfig{0.5},
          .dtype = TokenType::kUint32,
          .vocabulary = vocabulary,
          .bytes_per_token = {}};
}

/// Memory of this process that no file stands behind.
int64_t anonymous_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "RssAnon:") {
      int64_t kib = 0;
      status >> kib;
      return kib;
    }
  }
  throw std::runtime_error("no RssAnon in /proc/self/status");
}

}  // namespace

TEST_CASE("ids of both widths are read as they were written", "[data]") {
  const TemporaryFolder folder;
  const auto narrow = open_corpus(uint16_file(folder.write_ids<uint16_t>("narrow", {1, 2, 65535, 0, 40000, 7})));
  CHECK(tokens_of(*narrow.train) == std::vector<int64_t>{1, 2, 65535});
  CHECK(tokens_of(*narrow.validation) == std::vector<int64_t>{0, 40000, 7});
  CHECK(narrow.vocabulary == 65536);
  const auto wide =
      open_corpus(uint32_file(folder.write_ids<uint32_t>("wide", {65536, 4294967295U, 0, 99999}), 4294967296));
  CHECK(tokens_of(*wide.train) == std::vector<int64_t>{65536, 4294967295});
  CHECK(tokens_of(*wide.validation) == std::vector<int64_t>{0, 99999});
}

TEST_CASE("a long read is the tokens that short reads give", "[data]") {
  const TemporaryFolder folder;
  std::vector<uint32_t> ids(20'000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<uint32_t>(i);
  const auto corpus = open_corpus(uint32_file(folder.write_ids("ids", ids), 20'000));
  std::vector<int64_t> tokens(9'000);
  corpus.validation->read(500, tokens);
  for (size_t i = 0; i < tokens.size(); ++i) REQUIRE(tokens[i] == static_cast<int64_t>(10'500 + i));
}

TEST_CASE("bytes a token are known only when given", "[data]") {
  const TemporaryFolder folder;
  auto config = uint16_file(folder.write_ids<uint16_t>("ids", {1, 2, 3, 4}));
  CHECK_FALSE(open_corpus(config).bytes_per_token.has_value());
  config.bytes_per_token = 4.5;
  CHECK(open_corpus(config).bytes_per_token == 4.5);
}

TEST_CASE("the first id outside the vocabulary is reported with its place", "[data][error]") {
  const TemporaryFolder folder;
  std::vector<uint16_t> ids(1'000'000, 50256);
  const auto path = folder.write_ids("train.bin", ids);
  CHECK_NOTHROW(open_corpus(uint16_file(path, 50257)));
  CHECK_THROWS_WITH(
      open_corpus(uint16_file(path, 50256)),
      ContainsSubstring("train.bin: token 0 (byte 0) has id 50256; a vocabulary of 50256 has ids 0 to 50255"));
  ids[700'001] = 50257;
  ids[900'000] = 60000;
  folder.write_ids("train.bin", ids);
  CHECK_THROWS_WITH(open_corpus(uint16_file(path, 50257)),
                    ContainsSubstring("train.bin: token 700001 (byte 1400002) has id 50257"));
  ids.assign(10, 3);
  const auto good = folder.write_ids("good.bin", ids);
  auto config = uint16_file(good, 50257);
  config.validation = PathValidationConfig{path};
  CHECK_THROWS_WITH(open_corpus(config), ContainsSubstring("train.bin: token 700001"));

  CHECK_THROWS_WITH(open_corpus(uint32_file(folder.write_ids<uint32_t>("wide.bin", {1, 2, 3000000000U}), 100'000)),
                    ContainsSubstring("wide.bin: token 2 (byte 8) has id 3000000000; a vocabulary of 100000"));
}

TEST_CASE("in a folder of token files the place is counted in the file at fault", "[data][error]") {
  const TemporaryFolder folder;
  folder.write_ids<uint16_t>("shards/0.bin", {1, 2, 3});
  folder.write_ids<uint16_t>("shards/1.bin", {4, 5, 600, 7});
  CHECK_THROWS_WITH(open_corpus(uint16_file(folder / "shards", 100)),
                    ContainsSubstring("1.bin: token 2 (byte 4) has id 600"));
  CHECK(open_corpus(uint16_file(folder / "shards", 601)).train->size() == 4);
}

TEST_CASE("a size that is no multiple of an id's is refused, in each file", "[data][error]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(open_corpus(uint16_file(folder.write("odd.bin", "abcde"))),
                    ContainsSubstring("odd.bin: has 5 bytes, which is no multiple of an id's 2"));
  CHECK_THROWS_WITH(open_corpus(uint32_file(folder.write("cut.bin", "abcdef"), 4294967296)),
                    ContainsSubstring("no multiple of an id's 4"));
  folder.write("shards/0.bin", "abc");
  folder.write("shards/1.bin", "d");
  CHECK_THROWS_WITH(open_corpus(uint16_file(folder / "shards")), ContainsSubstring("0.bin: has 3 bytes"));
}

TEST_CASE("files that hold something else than bare ids of that width are refused", "[data][error]") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(open_corpus(uint16_file(folder.write("array.npy", "\x93NUMPY\x01 header"))),
                    ContainsSubstring("array.npy: is a NumPy .npy file"));
  CHECK_THROWS_WITH(open_corpus(uint16_file(folder.write_ids("wide.bin", std::vector<uint32_t>(100, 77)))),
                    ContainsSubstring("set dtype: uint32"));
  CHECK_NOTHROW(open_corpus(uint16_file(folder.write_ids("zeros.bin", std::vector<uint32_t>(100, 0)))));
  CHECK_THROWS_WITH(open_corpus(uint32_file(folder.write_ids("narrow.bin", std::vector<uint16_t>(100, 77)), 50257)),
                    ContainsSubstring("has id 5046349"));
}

TEST_CASE("a large token file is read in place: it takes no memory of the process's own", "[data][slow]") {
  const TemporaryFolder folder;
  const auto path = folder.write("sparse.bin", "");
  std::filesystem::resize_file(path, int64_t{1} << 30);
  const auto before = anonymous_kib();
  auto config = uint16_file(path, 50257);
  config.validation = TailValidationConfig{0.1};
  const auto corpus = open_corpus(config);
  std::vector<int64_t> window(1025);
  for (uint64_t i = 0; i < 20'000; ++i)
    corpus.train->read(static_cast<int64_t>(mix(i) % static_cast<uint64_t>(corpus.train->size() - 1025)), window);
  CHECK(corpus.train->size() + corpus.validation->size() == int64_t{1} << 29);
  CHECK(anonymous_kib() - before < 4096);
}

}  // namespace blockzoo
