#include <nlohmann/json.hpp>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/text/tokenizer.h"
#include "blockzoo/text/train_tokenizer.h"
#include "support/catch.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

std::filesystem::path golden_text(const std::string& name) {
  return std::filesystem::path(BLOCKZOO_SOURCE_DIR) / "tests/golden/text" / name;
}

/// Bytes that are no character become U+FFFD, as `tokenizers` decodes.
std::string as_tokenizers_shows(const std::string& bytes) {
  return nlohmann::json::parse(nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

TEST_CASE("Ids and texts of every family's tokenizer equal those of tokenizers (golden)", "[text][golden]") {
  for (const std::string family :
       {"gpt2", "gpt2_prefix", "llama3", "qwen2", "smollm2", "gpt_neox", "gpt4o", "deepseek", "odd_added", "splits",
        "llama2", "mistral", "gemma", "metaspace", "falcon", "bloom", "normalized", "t5", "albert"}) {
    const auto tokenizer = open_tokenizer(golden_text(family + ".json"));
    const auto cases = nlohmann::json::parse(read_file(golden_text(family + ".cases.json")));
    REQUIRE(cases.size() > 20);
    for (const auto& one : cases) {
      const auto text = one[0].get<std::string>();
      INFO(family << ": " << text);
      const auto ids = tokenizer->encode(text);
      CHECK(ids == one[1].get<std::vector<int64_t>>());
      // An added token with Latin letters decodes to itself here; tokenizers takes its letters for bytes.
      const bool latin_added = family == "odd_added" && text.find("\xc3\xa9t\xc3\xa9") != text.npos;
      if (!latin_added) CHECK(as_tokenizers_shows(tokenizer->decode(ids)) == one[2].get<std::string>());
    }
  }
}

TEST_CASE("Ids of SentencePiece models equal the library's (golden)", "[text][golden]") {
  for (const std::string name :
       {"sentencepiece_llama", "sentencepiece_gemma", "sentencepiece_unknown", "sentencepiece_bpe_rules",
        "sentencepiece_t5", "sentencepiece_unigram_rules", "sentencepiece_unigram_bytes"}) {
    const auto tokenizer = open_tokenizer(golden_text(name + ".model"));
    const auto cases = nlohmann::json::parse(read_file(golden_text(name + ".cases.json")));
    REQUIRE(cases.size() > 20);
    for (const auto& one : cases) {
      const auto text = one[0].get<std::string>();
      INFO(name << ": " << text);
      const auto ids = tokenizer->encode(text);
      CHECK(ids == one[1].get<std::vector<int64_t>>());
      if (!one[2].is_null()) CHECK(tokenizer->decode(ids) == one[2].get<std::string>());
    }
  }
}

TEST_CASE("Learnt merges and ids equal those of tokenizers, in order (golden)", "[text][golden]") {
  const auto golden = nlohmann::json::parse(read_file(golden_text("train.json")));
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> files;
  for (const auto& text : golden["texts"])
    files.push_back(folder.write("text" + std::to_string(files.size()), text.get<std::string>()));
  const TokenizerTraining training{.vocabulary = 420, .special = {"<|endoftext|>", "<|pad|>"}};
  const auto written = train_tokenizer(training, files, [](std::string_view, double) {});
  const auto model = nlohmann::json::parse(written.at("tokenizer.json"))["model"];
  CHECK(model["merges"] == golden["merges"]);
  CHECK(model["vocab"] == golden["vocab"]);
}

}  // namespace blockzoo
