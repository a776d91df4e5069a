#include "blockzoo/text/tokenizer.h"

#include <nlohmann/json.hpp>
#include <random>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/text/byte_tokenizer.h"
#include "blockzoo/text/encode_files.h"
#include "blockzoo/text/text_stream.h"
#include "blockzoo/text/train_tokenizer.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using TokenizerJson = nlohmann::ordered_json;

std::filesystem::path golden_file(const std::string& name) {
  return std::filesystem::path(BLOCKZOO_SOURCE_DIR) / "tests/golden/text" / name;
}

std::filesystem::path family_file(const std::string& family) { return golden_file(family + ".json"); }

TokenizerJson family_json(const std::string& family) { return TokenizerJson::parse(read_file(family_file(family))); }

/// What opening the file says.
std::string refusal(const std::string& contents, const std::string& name = "tokenizer.json") {
  const TemporaryFolder folder;
  folder.write(name, contents);
  try {
    open_tokenizer(folder.path());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// The refusal of GPT-2's file after a change.
template <class Change>
std::string refusal_after(const Change& change) {
  auto json = family_json("gpt2");
  change(json);
  return refusal(json.dump());
}

std::vector<int64_t> counted(int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) ids[static_cast<size_t>(i)] = i;
  return ids;
}

std::string random_bytes(std::mt19937_64& draw, size_t size) {
  std::string bytes(size, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(draw() & 0xff);
  return bytes;
}

}  // namespace

TEST_CASE("Text that is not UTF-8 comes back byte for byte", "[text]") {
  std::mt19937_64 draw(1);
  const std::vector<std::string> texts = {"\xff",
                                          "a\xed\xa0\x80z",
                                          "\xf0\x9f\x98",
                                          "ok \xc3",
                                          "\xc0\xaf<|endoftext|>\x80",
                                          random_bytes(draw, 5000),
                                          std::string("\0\0 \0", 4)};
  for (const std::string file : {"gpt2.json", "gpt2_prefix.json", "llama3.json", "smollm2.json", "gpt4o.json",
                                 "deepseek.json", "falcon.json", "gemma.json", "llama2.json", "mistral.json",
                                 "sentencepiece_llama.model", "sentencepiece_unigram_bytes.model"}) {
    INFO(file);
    const auto tokenizer = open_tokenizer(golden_file(file));
    if (file == "gpt2_prefix.json") {  // the space that it puts in front of a text is part of it
      CHECK(tokenizer->decode(tokenizer->encode("\xff"
                                                "a\xff")) ==
            "\xff"
            "a\xff");
      continue;
    }
    for (const auto& text : texts) CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
  }
}

TEST_CASE("A stream of text never cuts a character, and its parts are the whole", "[text]") {
  const std::string text = "na\u00efve \u4f60\u597d \U0001f468\u200d\U0001f469\u200d\U0001f467 end";
  for (const std::string family : {"gpt2", "llama3", "llama2", "mistral", "gemma"}) {
    const auto tokenizer = open_tokenizer(family_file(family));
    TextStream stream(*tokenizer);
    std::string whole;
    for (const auto id : tokenizer->encode(text)) {
      const auto part = stream.push(id);
      CHECK_NOTHROW(nlohmann::json(part).dump());  // throws on what is not UTF-8
      whole += part;
    }
    CHECK(whole + stream.finish() == text);
  }
  const ByteTokenizer bytes;
  TextStream stream(bytes);
  CHECK(stream.push(0xc3) == "");
  CHECK(stream.push(0x41) == "\ufffdA");
  CHECK(stream.push(0xe2) == "");
  CHECK(stream.finish() == "\ufffd");
  CHECK(stream.push(0x42) == "B");
}

TEST_CASE("Special tokens stand for no text, and frame a text only when asked", "[text]") {
  const auto llama = open_tokenizer(family_file("llama3"));
  const auto ids = llama->encode("hi<|eot_id|>");
  CHECK(ids.back() == 2);
  CHECK(llama->text_bytes(2) == 0);
  CHECK(llama->framed(ids).front() == 0);
  CHECK(llama->framed(ids).size() == ids.size() + 1);
  CHECK(llama->piece(2) == "<|eot_id|>");
  CHECK(open_tokenizer(family_file("gpt2"))->end_of_text() == 0);
  int64_t bytes = 0;
  const std::string text = "Two   words, \u00e9t\u00e9.";
  for (const auto id : llama->encode(text)) bytes += llama->text_bytes(id);
  CHECK(bytes == static_cast<int64_t>(text.size()));
  CHECK_THROWS_AS(llama->decode(std::vector<int64_t>{llama->vocabulary()}), std::out_of_range);
  CHECK_THROWS_AS(llama->piece(-1), std::out_of_range);
}

TEST_CASE("The id that ends a text is the one that tokenizer_config.json names", "[text]") {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", read_file(family_file("llama3")));
  CHECK(open_tokenizer(folder.path())->end_of_text() == 1);  // <|end_of_text|>
  folder.write("tokenizer_config.json", R"({"eos_token": {"content": "<|eot_id|>"}})");
  CHECK(open_tokenizer(folder.path())->end_of_text() == 2);
  folder.write("tokenizer_config.json", R"({"eos_token": "none such"})");
  CHECK_FALSE(open_tokenizer(folder.path())->end_of_text());
}

TEST_CASE("Files that are encoded in blocks on all cores give the ids of the whole text", "[text]") {
  const TemporaryFolder folder;
  std::mt19937_64 draw(3);
  std::string text;
  while (text.size() < size_t{5} << 20) {
    text += draw() % 9 == 0 ? "\n\n" : draw() % 5 == 0 ? "\r\n" : draw() % 3 == 0 ? "\n" : " ";
    for (auto left = draw() % 9; left > 0; --left)
      text += static_cast<char>(draw() % 7 == 0 ? draw() % 96 + 32 : 'a' + draw() % 6);
    if (draw() % 5000 == 0) text += "<|endoftext|>";
  }
  const std::vector<std::filesystem::path> files = {folder.write("a", text), folder.write("b", ""),
                                                    folder.write("c", "end")};
  for (const std::string file :
       {"gpt2.json", "llama3.json", "qwen2.json", "smollm2.json", "gpt4o.json", "gpt_neox.json", "deepseek.json",
        "falcon.json", "llama2.json", "gemma.json", "albert.json", "bloom.json", "sentencepiece_llama.model",
        "sentencepiece_gemma.model", "sentencepiece_bpe_rules.model"}) {
    INFO(file);
    const auto tokenizer = open_tokenizer(golden_file(file));
    // A pattern that is not known, and a table with a rule for "q r".
    const bool uncut = file == "bloom.json" || file == "sentencepiece_bpe_rules.model";
    CHECK((tokenizer->last_cut(text) > 0) == !uncut);
    std::vector<int64_t> ids;
    encode_files(
        *tokenizer, files, [&](std::span<const int64_t> block) { ids.insert(ids.end(), block.begin(), block.end()); },
        [](double) {});
    auto expected = tokenizer->encode(text);
    const auto end = [&] {
      if (const auto id = tokenizer->end_of_text()) expected.push_back(*id);
    };
    end();  // of a
    end();  // of b
    for (const auto id : tokenizer->encode("end")) expected.push_back(id);
    end();
    CHECK((ids == expected));
  }
  CHECK_THROWS_AS(encode_files(
                      ByteTokenizer(), {folder / "none"}, [](auto) {}, [](double) {}),
                  std::system_error);
}

TEST_CASE("Text without spaces is cut behind lines, and a text that can be cut nowhere is refused in time",
          "[text][error]") {
  const auto llama = open_tokenizer(family_file("llama3"));
  for (const std::string text :
       {"\u4f60\u597d\u3002\n\u4e16\u754c\n\n\u4f60", "\u4f60\u597d1\n\u00e9t\u00e9/\n\n \u4f60"}) {
    const auto cut = llama->last_cut(text);
    REQUIRE(cut > 0);
    auto ids = llama->encode(text.substr(0, cut));
    for (const auto id : llama->encode(text.substr(cut), TextStart::kGoesOn)) ids.push_back(id);
    CHECK(ids == llama->encode(text));
  }
  for (const std::string text : {"\u4f60\n\n\u4f60", "\u4f60 \n\u4f60", "\u4f60\n/", "\u4f60\n \u4f60", "a\n\u0301"})
    CHECK(llama->last_cut(text) == 0);
  const TemporaryFolder folder;
  const auto file = folder.write("long", std::string(size_t{65} << 20, 'a'));
  CHECK_THROWS_WITH(encode_files(
                        *open_tokenizer(family_file("bloom")), {file}, [](auto) {}, [](double) {}),
                    ContainsSubstring("64 MiB of text without a place"));
  CHECK_THROWS_WITH(train_tokenizer({.vocabulary = 300}, {file}, [](std::string_view, double) {}),
                    ContainsSubstring("long: 64 MiB of text without a place"));
}

TEST_CASE("A text that goes on gets nothing in front", "[text]") {
  for (const std::string file : {"llama2.json", "mistral.json", "t5.json", "gpt2_prefix.json",
                                 "sentencepiece_llama.model", "sentencepiece_t5.model"}) {
    INFO(file);
    const auto tokenizer = open_tokenizer(golden_file(file));
    const std::string text = "and of the King";
    auto ids = tokenizer->encode("the");
    for (const auto id : tokenizer->encode(" " + text, TextStart::kGoesOn)) ids.push_back(id);
    CHECK(ids == tokenizer->encode("the " + text));
  }
}

TEST_CASE("A trained tokenizer is opened, and texts come back", "[text]") {
  const TemporaryFolder folder;
  const auto file = folder.write("text", "the cat sat on the mat, the cat sat.\nThe end<|end|>of it. 1234\n");
  for (const auto& [pattern, name] : names(WordPattern{})) {
    const TokenizerTraining training{.vocabulary = 270, .special = {"<|end|>"}, .pattern = pattern};
    const auto files = train_tokenizer(training, {file}, [](std::string_view, double) {});
    for (const auto& [file_name, contents] : files) folder.write(std::string(name) + "/" + file_name, contents);
    const auto tokenizer = open_tokenizer(folder / name);
    CHECK(tokenizer->vocabulary() == 270);
    CHECK(tokenizer->end_of_text() == 0);
    const std::string text = "the mat<|end|>\u00e9";
    CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    CHECK(tokenizer->encode("<|end|>") == std::vector<int64_t>{0});
  }
  const auto train = [&](int64_t vocabulary, std::vector<std::string> special) {
    train_tokenizer({.vocabulary = vocabulary, .special = std::move(special)}, {file}, [](std::string_view, double) {});
  };
  CHECK_THROWS_WITH(train(256, {"x"}), ContainsSubstring("from 257"));
  CHECK_THROWS_WITH(train(300, {"x", "x"}), ContainsSubstring("there twice"));
  CHECK_THROWS_WITH(train(300, {""}), ContainsSubstring("is empty"));
}

TEST_CASE("What a tokenizer file asks for and is not here is refused by name", "[text][error]") {
  CHECK_THAT(refusal("{"), ContainsSubstring("tokenizer.json: is not JSON"));
  CHECK_THAT(refusal("[]"), ContainsSubstring("must be a map"));
  CHECK_THAT(refusal_after([](auto& json) { json["model"]["type"] = "WordPiece"; }),
             ContainsSubstring("model.type: 'WordPiece' is not supported; one of: BPE, Unigram"));
  CHECK_THAT(refusal_after([](auto& json) { json["model"]["type"] = "Unigram"; }),
             ContainsSubstring("model.type: 'Unigram' is not supported behind the pre-tokenizer ByteLevel"));
  auto unigram = family_json("albert");
  unigram["model"]["vocab"][5] = {"x", "y"};
  CHECK_THAT(refusal(unigram.dump()), ContainsSubstring("model.vocab[5]: must be a piece and its score"));
  unigram = family_json("albert");
  unigram["model"]["unk_id"] = nullptr;
  CHECK_THAT(refusal(unigram.dump()), ContainsSubstring("model.unk_id: is null, and byte_fallback is off"));
  unigram["model"]["byte_fallback"] = true;
  CHECK_THAT(refusal(unigram.dump()), ContainsSubstring("model.byte_fallback: '<0x00>' is not in the vocabulary"));
  unigram = family_json("albert");
  unigram["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}};
  CHECK_THAT(refusal(unigram.dump()),
             ContainsSubstring("normalizer.precompiled_charsmap: the table is cut short, or none"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["pre_tokenizer"] = {{"type", "Sequence"},
                                        {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "ByteLevel"}}}}};
             }),
             ContainsSubstring("pre_tokenizer.pretokenizers[1]: is a second ByteLevel"));
  CHECK_THAT(refusal_after([](auto& json) { json["model"]["dropout"] = 0.1; }),
             ContainsSubstring("model.dropout: is not supported"));
  CHECK_THAT(refusal_after([](auto& json) { json["model"]["end_of_word_suffix"] = "</w>"; }),
             ContainsSubstring("model.end_of_word_suffix: is not supported"));
  CHECK_THAT(refusal_after([](auto& json) { json["model"]["new_option"] = 3; }),
             ContainsSubstring("model.new_option: is not supported"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["normalizer"] = {{"type", "BertNormalizer"}};
             }),
             ContainsSubstring("normalizer.type: 'BertNormalizer' is not supported; one of: NFC"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["pre_tokenizer"] = {{"type", "UnicodeScripts"}};
             }),
             ContainsSubstring("pre_tokenizer.type: 'UnicodeScripts' is not supported"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["decoder"] = {{"type", "CTC"}};
             }),
             ContainsSubstring("decoder.type: 'CTC'"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["post_processor"] = {{"type", "None"}};
             }),
             ContainsSubstring("post_processor.type: 'None'"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["truncation"] = {{"max_length", 5}};
             }),
             ContainsSubstring("truncation: is not supported"));
  CHECK_THAT(
      refusal_after([](auto& json) {
        json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}};
      }),
      ContainsSubstring("pre_tokenizer.pattern.Regex: the pattern does not compile: missing closing parenthesis"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "a*"}}}, {"behavior", "Isolated"}};
             }),
             ContainsSubstring("can match an empty text"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["model"]["merges"].push_back({"a", "b c"});
             }),
             ContainsSubstring("model.merges[") && ContainsSubstring("'b c' is not in the vocabulary"));
  CHECK_THAT(refusal_after([](auto& json) { json["model"]["vocab"]["zzz"] = 5; }), ContainsSubstring("gives id 5 to"));
  CHECK_THAT(refusal_after([](auto& json) { json["model"]["vocab"]["zzz"] = -1; }),
             ContainsSubstring("must be from 0 to"));
  CHECK_THAT(refusal_after([](auto& json) { json["added_tokens"][0]["id"] = 7; }),
             ContainsSubstring("added_tokens[0]: '<|endoftext|>' has id 7 here and 0 in the vocabulary"));
  const TemporaryFolder empty;
  CHECK_THROWS_WITH(open_tokenizer(empty.path()), ContainsSubstring("has neither tokenizer.json nor tokenizer.model"));
  CHECK_THROWS_WITH(open_tokenizer(empty / "none"), ContainsSubstring("there is no such tokenizer"));
  CHECK_THAT(refusal("{\"a\": "), ContainsSubstring("is not JSON: parse error at line 1, column 7"));
  CHECK_THAT(refusal_after([](auto& json) {
               json["model"]["type"] = "WordPiece";
               json["normalizer"] = {{"type", "BertNormalizer"}};
             }),
             ContainsSubstring("model.type: 'WordPiece'"));
  CHECK_THAT(refusal("IQ== 0\nIg== 1\n", "tokenizer.model"),
             ContainsSubstring("is a list of tokens for tiktoken, which is not read; tokenizer.json and"));
  CHECK_THAT(refusal(R"({"a": 0, "b": 1})"), ContainsSubstring("is a vocabulary without its merges"));
  CHECK_THAT(refusal(R"({"config": {}, "vocab": []})"), ContainsSubstring("is Mistral's tekken, which is not read"));
  CHECK_THAT(refusal("{}", "tekken.json"), ContainsSubstring("; tekken.json is of a format that is not read"));
  CHECK_THAT(refusal("IQ== 0", "cl100k.tiktoken"), ContainsSubstring("; cl100k.tiktoken is of a format that"));
  CHECK_THAT(refusal("", "tokenizer.model"), ContainsSubstring("holds no pieces"));
  CHECK_THAT(refusal("\x0a\xff", "tokenizer.model"), ContainsSubstring("is cut short"));
}

TEST_CASE("A damaged tokenizer file is refused with its reason or read, and never breaks the program",
          "[text][error]") {
  std::mt19937_64 draw(5);
  for (const std::string file : {"llama3.json", "llama2.json", "odd_added.json", "albert.json",
                                 "sentencepiece_bpe_rules.model", "sentencepiece_unigram_rules.model"}) {
    const auto whole = read_file(golden_file(file));
    for (int round = 0; round < 150; ++round) {
      auto damaged = whole;
      const auto at = draw() % (round % 3 == 0 ? std::min<size_t>(1500, whole.size()) : whole.size());
      if (round % 4 == 0) {
        damaged.resize(at);
      } else if (round % 4 == 1) {
        damaged.erase(at, draw() % 40 + 1);
      } else {
        damaged[at] = static_cast<char>(draw() & 0xff);
      }
      const TemporaryFolder folder;
      folder.write("tokenizer" + std::filesystem::path(file).extension().string(), damaged);
      try {
        const auto tokenizer = open_tokenizer(folder.path());
        tokenizer->decode(tokenizer->encode("Some text, 12 \u00e9 <|eot_id|>"));
      } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).size() > folder.path().string().size() + 20);
      }
    }
  }
}

TEST_CASE("Hashes tell tokenizers apart, and depend on what decides ids alone", "[text]") {
  const auto hash_of = [](const TokenizerJson& json) {
    const TemporaryFolder folder;
    folder.write("tokenizer.json", json.dump(3));
    return open_tokenizer(folder.path())->hash();
  };
  auto json = family_json("gpt2");
  const auto hash = hash_of(json);
  json["decoder"] = nullptr;
  CHECK(hash_of(json) == hash);
  json["model"]["merges"].erase(json["model"]["merges"].size() - 1);
  CHECK(hash_of(json) != hash);
  CHECK(open_tokenizer(family_file("gpt2"))->hash() == hash);
  CHECK(ByteTokenizer().hash() != hash);
}

TEST_CASE("A tokenizer of bytes has an id for every byte", "[text]") {
  const ByteTokenizer tokenizer;
  CHECK(tokenizer.encode("a\xff") == std::vector<int64_t>{97, 255});
  CHECK(tokenizer.encode(tokenizer.decode(counted(256))) == counted(256));
  CHECK(tokenizer.piece(32) == "\u0120");
  CHECK_THROWS_AS(tokenizer.decode(std::vector<int64_t>{256}), std::out_of_range);
}

}  // namespace blockzoo
