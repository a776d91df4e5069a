#include <random>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/text/tokenizer.h"
#include "support/catch.h"
#include "support/temporary_folder.h"
#include "text/sentencepiece_model.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using namespace std::string_literals;

std::string model_bytes(const std::string& name) {
  return read_file(std::filesystem::path(BLOCKZOO_SOURCE_DIR) / "tests/golden/text" /
                   ("sentencepiece_" + name + ".model"));
}

std::unique_ptr<Tokenizer> model_tokenizer(const std::string& bytes) {
  const TemporaryFolder folder;
  return open_tokenizer(folder.write("tokenizer.model", bytes));
}

/// A field of a protobuf message that holds up to 127 bytes. Put behind a model, it changes that field.
std::string wire_message(char number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} + content;
}

std::string with_trainer(const std::string& bytes, const std::string& field) { return bytes + wire_message(2, field); }
std::string with_normalizer(const std::string& bytes, const std::string& field) {
  return bytes + wire_message(3, field);
}

std::string model_refusal(const std::string& bytes) {
  try {
    model_tokenizer(bytes);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// The library's ids of the text as one.
std::vector<int64_t> library_ids(const std::string& bytes, const std::string& text) {
  std::vector<uint32_t> ids;
  SentencePieceModel(bytes).encode(text, ids);
  return {ids.begin(), ids.end()};
}

}  // namespace

TEST_CASE("A SentencePiece module that is missing, or another library, is one sentence", "[text][error]") {
  CHECK_THROWS_WITH(open_sentencepiece_module("/no/such.so"),
                    "the module that reads SentencePiece models cannot be opened: /no/such.so: cannot open shared "
                    "object file: No such file or directory");
  CHECK_THROWS_WITH(open_sentencepiece_module("libm.so.6"),
                    ContainsSubstring("cannot be opened: ") && ContainsSubstring("blockzoo_sentencepiece"));
}

TEST_CASE("Pieces of a SentencePiece model have their texts and kinds", "[text]") {
  const auto bytes = model_bytes("llama");
  const SentencePieceModel model(bytes);
  CHECK(model.pieces() == 600);
  CHECK(model.kind(0) == PieceKind::kUnknown);
  CHECK(model.kind(1) == PieceKind::kControl);
  CHECK(model.kind(3) == PieceKind::kByte);
  CHECK(model.kind(300) == PieceKind::kNormal);
  CHECK(model.piece(3) == "<0x00>");
  const auto tokenizer = model_tokenizer(bytes);
  CHECK(tokenizer->vocabulary() == 600);
  CHECK(tokenizer->end_of_text() == 2);
  CHECK(tokenizer->piece(2) == "</s>");
  CHECK(tokenizer->text_bytes(2) == 0);
  CHECK(tokenizer->text_bytes(3) == 1);
  CHECK(tokenizer->encode("</s>") == std::vector<int64_t>{2});
  const auto ids = tokenizer->encode(" to</s> be");
  CHECK(tokenizer->decode(ids) == " to</s>  be");  // a space is put in front of each text between symbols
  CHECK_THROWS_AS(tokenizer->piece(600), std::out_of_range);
  CHECK_THROWS_AS(tokenizer->decode(std::vector<int64_t>{-1}), std::out_of_range);
}

TEST_CASE("What a SentencePiece model asks for and is not here is refused by name", "[text][error]") {
  const auto bytes = model_bytes("llama");
  CHECK_THAT(model_refusal(with_trainer(bytes, "\xc0\x01\x01"s)),
             ContainsSubstring("trainer_spec.treat_whitespace_as_suffix is not supported"));
  CHECK_THAT(model_refusal(with_trainer(bytes, "\x18\x09"s)),
             ContainsSubstring("trainer_spec.model_type is none that is known"));
  CHECK_THAT(model_refusal(with_normalizer(bytes, "\x28\x00"s)),
             ContainsSubstring("normalizer_spec.escape_whitespaces must be on"));
}

TEST_CASE("What SentencePiece's library refuses is refused with its reason", "[text][error]") {
  const auto bytes = model_bytes("llama");
  CHECK_THAT(
      model_refusal(bytes + wire_message(1, wire_message(1, "e"))),
      ContainsSubstring("tokenizer.model: SentencePiece refuses it: ") && ContainsSubstring("e is already defined"));
  CHECK_THAT(model_refusal(bytes + wire_message(1, wire_message(1, "<new>") + "\x18\x02"s)),
             ContainsSubstring("unk is already defined"));
  CHECK_THAT(model_refusal(bytes + wire_message(4, "\x0a\x7f"s)),
             EndsWith("tokenizer.model: SentencePiece refuses it: it is not of its format"));
}

TEST_CASE("A SentencePiece model with more pieces of users in one another than the library bears is refused",
          "[text][error]") {
  auto bytes = model_bytes("llama");
  for (size_t size = 1; size <= 64; ++size)
    bytes += wire_message(1, wire_message(1, std::string(size, '~')) + "\x18\x04"s);
  CHECK(model_tokenizer(bytes)->encode(std::string(65, '~')).size() == 3);  // the mark, and two of these
  bytes += wire_message(1, wire_message(1, std::string(65, '~')) + "\x18\x04"s);
  CHECK_THAT(model_refusal(bytes), ContainsSubstring("more than 64 pieces of users begin one text"));
}

TEST_CASE("A table of a SentencePiece model that would lead outside of itself is refused", "[text][error]") {
  const auto refusal_of = [](const std::string& table) {
    return model_refusal(with_normalizer(model_bytes("llama"), wire_message(2, table)));
  };
  CHECK_THAT(refusal_of("\x08\0\0\0abcdefgh"s),
             ContainsSubstring("normalizer_spec.precompiled_charsmap: the table is cut"));
  // One unit whose children would begin at 0, where there is no room for 256 of them.
  CHECK_THAT(refusal_of("\x04\0\0\0\0\0\0\0x\0"s),
             ContainsSubstring("normalizer_spec.precompiled_charsmap: the table points outside of itself"));
  CHECK_THAT(model_refusal(model_bytes("llama") + wire_message(5, wire_message(2, "\x04\0\0\0\0\0\0\0x\0"s))),
             ContainsSubstring("denormalizer_spec.precompiled_charsmap: the table points outside of itself"));
}

TEST_CASE("Words that SentencePiece is asked for one by one have the ids of the whole text", "[text]") {
  std::mt19937_64 draw(4);
  const std::vector<std::string> parts = {" ", "  ", "the",    "ing", "q r",     "\n",      "\n\n",   "<start_of_turn>",
                                          "A", "fi", "\u2581", "7",   "\u00e9t", ".",       "\u3000", "\xc2\xa0",
                                          "x", "T",  "\u00ad", "a ",  " an",     "e\u0301", "\t",     "\u4f60",
                                          "- "};
  const auto llama = model_bytes("llama");
  const auto t5 = model_bytes("t5");
  const std::vector<std::string> models = {llama,
                                           model_bytes("gemma"),
                                           model_bytes("unknown"),
                                           model_bytes("bpe_rules"),
                                           model_bytes("unigram_bytes"),
                                           with_normalizer(llama, "\x20\x01"s),          // remove_extra_whitespaces
                                           with_normalizer(llama, "\x18\x00\x20\x01"s),  // and no dummy prefix
                                           with_trainer(llama, "\x18\x03"s),
                                           with_trainer(llama, "\x18\x04"s),  // words, characters
                                           with_normalizer(t5, "\x18\x00"s)};
  for (size_t i = 0; i < models.size(); ++i) {
    INFO("model " << i);
    const auto tokenizer = model_tokenizer(models[i]);
    for (int round = 0; round < 60; ++round) {
      std::string text;
      for (auto left = draw() % 40; left > 0; --left) text += parts[draw() % parts.size()];
      INFO(text);
      const auto whole = library_ids(models[i], text);
      CHECK(tokenizer->encode(text) == whole);
      const auto cut = tokenizer->last_cut(text);
      auto ids = tokenizer->encode(text.substr(0, cut));
      const auto start = cut > 0 ? TextStart::kGoesOn : TextStart::kBegins;
      for (const auto id : tokenizer->encode(text.substr(cut), start)) ids.push_back(id);
      CHECK(ids == whole);
    }
  }
}

TEST_CASE("A text that goes on begins with the spaces that it has", "[text]") {
  const auto t5 = model_bytes("t5");
  for (const auto& bytes : {t5, with_normalizer(t5, "\x18\x00"s)}) {
    const auto tokenizer = model_tokenizer(bytes);
    const auto pieces_of = [&](const std::string& text) {
      std::string pieces;
      for (const auto id : tokenizer->encode(text, TextStart::kGoesOn)) pieces += tokenizer->piece(id);
      return pieces;
    };
    CHECK(pieces_of("the end") == "the\u2581end");
    CHECK(pieces_of("  the end") == "\u2581the\u2581end");
    CHECK(pieces_of("\tthe") == "\u2581the");
    CHECK(pieces_of(" ").empty());
  }
}

}  // namespace blockzoo
