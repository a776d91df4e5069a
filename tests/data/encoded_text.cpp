#include <random>

#include "blockzoo/core/hash.h"
#include "blockzoo/data/corpus.h"
#include "blockzoo/data/token_file.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/text/tokenizer.h"
#include "blockzoo/text/train_tokenizer.h"
#include "support/bytes_of.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A text, a tokenizer that was trained on it, and the text's token file.
struct EncodedFolder {
  EncodedFolder() {
    for (int i = 0; i < 400; ++i) text += "the cat number " + std::to_string(i * i) + " sat on the mat.\n";
    path = folder.write("text", text);
    for (const auto& [name, contents] :
         train_tokenizer({.vocabulary = 300, .special = {"<|end|>"}}, {path}, [](std::string_view, double) {}))
      folder.write("tokenizer/" + name, contents);
    tokenizer = open_tokenizer(folder / "tokenizer");
    auto ids = tokenizer->encode(text);
    ids.push_back(0);
    write_tokens("tokens", token_file_header(300, tokenizer->hash()), ids);
  }

  void write_tokens(const std::string& name, const TokenFileHeader& header, const std::vector<int64_t>& ids) const {
    auto bytes = to_bytes(header);
    for (const auto id : ids) {
      const auto narrow = static_cast<uint16_t>(id);
      bytes.append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
    }
    folder.write(name, bytes);
  }

  TextConfig config(const std::string& file, ValidationConfig validation = TailValidationConfig{0.25}) const {
    return {(folder / file).string(), std::move(validation), FileTokenizerConfig{(folder / "tokenizer").string()}};
  }

  std::string decoded(const TokenSource& source) const {
    std::vector<int64_t> ids(static_cast<size_t>(source.size()));
    source.read(0, ids);
    return tokenizer->decode(ids);
  }

  TemporaryFolder folder;
  std::string text;
  std::filesystem::path path;
  std::unique_ptr<Tokenizer> tokenizer;
};

}  // namespace

TEST_CASE("A text is cut at the same byte for every tokenizer, or up to one token later", "[data][text]") {
  const EncodedFolder made;
  const auto bytes = open_corpus(TextConfig{made.path, TailValidationConfig{0.25}, BytesTokenizerConfig{}});
  const auto corpus = open_corpus(made.config("text"));
  CHECK(corpus.vocabulary == 300);
  CHECK(corpus.tokenizer_hash == made.tokenizer->hash());
  const auto train = made.decoded(*corpus.train);
  CHECK(train + made.decoded(*corpus.validation) == made.text + "<|end|>");
  const auto cut = static_cast<int64_t>(train.size());
  CHECK(cut >= bytes.train->size());
  CHECK(cut < bytes.train->size() + 16);
  CHECK(corpus.text_hash == bytes.text_hash);
  CHECK(corpus.hash != bytes.hash);
}

TEST_CASE("A token file is the text that it was made of", "[data][text]") {
  const EncodedFolder made;
  const auto text = open_corpus(made.config("text"));
  const auto tokens = open_corpus(made.config("tokens"));
  CHECK(tokens.hash == text.hash);
  CHECK(tokens.text_hash == text.text_hash);
  CHECK(tokens.train->size() == text.train->size());
  CHECK(made.decoded(*tokens.validation) == made.decoded(*text.validation));
}

TEST_CASE("Bytes of text are counted token by token, and a special token stands for none", "[data][text]") {
  const EncodedFolder made;
  const auto corpus = open_corpus(made.config("text"));
  const auto& source = *corpus.validation;
  const auto text = made.decoded(source);
  CHECK(source.text_bytes(0, source.size()) == static_cast<int64_t>(text.size() - std::string("<|end|>").size()));
  CHECK(source.text_bytes(source.size() - 1, 1) == 0);
  CHECK_THROWS_AS(source.text_bytes(source.size(), 1), std::out_of_range);
  CHECK_FALSE(open_corpus(TextConfig{made.path, TailValidationConfig{0.25}, BytesTokenizerConfig{}})
                  .validation->text_bytes(0, 1));
}

TEST_CASE("Ids of another tokenizer, and damaged token files, are refused", "[data][text][error]") {
  const EncodedFolder made;
  const auto refused = [&](const std::string& file, const std::string& why) {
    CHECK_THROWS_WITH(open_corpus(made.config(file)), ContainsSubstring(why));
  };
  const auto hash = made.tokenizer->hash();
  made.write_tokens("other", token_file_header(300, hash + 1), {1, 2, 3});
  refused("other", "holds the ids of a tokenizer with hash " + hex(hash + 1));
  made.write_tokens("outside", token_file_header(300, hash), {1, 2, 300});
  refused("outside", "token 2 has id 300; the tokenizer has ids 0 to 299");
  made.write_tokens("none", token_file_header(300, hash), {});
  refused("none", "it is cut short");
  made.folder.write("short", to_bytes(token_file_header(300, hash)).substr(0, 40));
  refused("short", "is cut short");
  made.folder.write("odd", to_bytes(token_file_header(300, hash)) + "abc");
  refused("odd", "no header and whole ids of 2");
  auto version = to_bytes(token_file_header(300, hash));
  version[16] = 9;
  made.folder.write("version", version + "ab");
  refused("version", "is a token file of version 9; this program reads 1");
  made.folder.write("mixed/a", to_bytes(token_file_header(300, hash)) + "ab");
  made.folder.write("mixed/b", "text");
  refused("mixed", "is a token file among others in a folder");
  made.folder.write("empty", "");
  refused("empty", "is empty");
  CHECK_THROWS_WITH(open_corpus(made.config("text", PathValidationConfig{made.path})),
                    ContainsSubstring("is in the training data"));
  made.folder.write("copy", made.text);
  CHECK_THROWS_WITH(open_corpus(made.config("text", PathValidationConfig{(made.folder / "copy").string()})),
                    ContainsSubstring("has the same contents as the training data"));
}

TEST_CASE("A damaged token file is refused with its reason or read, and never breaks the program",
          "[data][text][error]") {
  const EncodedFolder made;
  made.write_tokens("whole", token_file_header(300, made.tokenizer->hash()), std::vector<int64_t>(500, 42));
  const auto whole = read_file(made.folder / "whole");
  std::mt19937_64 draw(9);
  for (int round = 0; round < 300; ++round) {
    auto damaged = whole;
    const auto at = draw() % (round % 2 == 0 ? TokenFileHeader::bytes : whole.size());
    if (round % 3 == 0) {
      damaged.resize(at);
    } else {
      damaged[at] = static_cast<char>(draw() & 0xff);
    }
    made.folder.write("damaged", damaged);
    try {
      open_corpus(made.config("damaged"));
    } catch (const std::runtime_error& error) {
      CHECK_THAT(error.what(), ContainsSubstring("damaged"));
    }
  }
}

TEST_CASE("Headers of token files are read back, and other files have none", "[data][text]") {
  const TemporaryFolder folder;
  for (const int64_t vocabulary : {257, 65536, 65537, 200000}) {
    const auto header = token_file_header(vocabulary, 42);
    CHECK(header.width == (vocabulary <= 65536 ? 2 : 4));
    CHECK(read_token_file_header(folder.write("tokens", to_bytes(header))) == header);
  }
  CHECK_FALSE(read_token_file_header(folder.write("text", "blockzoo tokens are described here")));
  CHECK_THROWS_WITH(read_token_file_header(folder / "missing"), ContainsSubstring("missing"));
}

}  // namespace blockzoo
