#include "blockzoo/text/tokenizer.h"

#include <nlohmann/json.hpp>

#include "blockzoo/hub/atomic_file.h"
#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A folder with a text, and a tokenizer that the program learnt from it.
struct TokenizerFolder {
  TokenizerFolder() {
    for (int i = 0; i < 300; ++i) text += "the cat sat on mat " + std::to_string(i) + ", and then it left.\n";
    folder.write("texts/a.txt", text);
    run({"tokenizer", "train", "--vocab", "290", "--special", "<|endoftext|>", "--to", "learnt", "texts"});
  }

  std::string run(const std::vector<std::string>& arguments, int code = 0) const {
    Program program(folder.path(), arguments);
    const auto status = program.wait();
    INFO(program.error());
    CHECK(status == code);
    return code == 0 ? program.out() : program.error();
  }

  TemporaryFolder folder;
  std::string text;
};

}  // namespace

TEST_CASE("blockzoo tokenizer learns, encodes, decodes and shows", "[program][text]") {
  const TokenizerFolder made;
  CHECK(made.run({"tokenizer", "encode", "--tokenizer", "learnt", "--to", "ids", "texts"}).starts_with("ids: "));
  CHECK(made.run({"tokenizer", "decode", "--tokenizer", "learnt", "ids"}) == made.text + "<|endoftext|>");
  const auto shown = made.run({"tokenizer", "show", "--tokenizer", "learnt", "the cat<|endoftext|>"});
  CHECK_THAT(shown, ContainsSubstring("\u0120cat") && ContainsSubstring("0  <|endoftext|>") &&
                        ContainsSubstring("tokens of 20 bytes"));

  CHECK_THAT(made.run({"tokenizer", "train", "--to", "learnt", "texts"}, 1),
             ContainsSubstring("learnt is there already"));
  CHECK_THAT(made.run({"tokenizer", "encode", "--tokenizer", "learnt", "--to", "ids", "texts"}, 1),
             ContainsSubstring("ids is there already"));
  CHECK_THAT(made.run({"tokenizer", "train", "--pattern", "gpt5", "--to", "new", "texts"}, 1),
             ContainsSubstring("one of: gpt2, llama3, qwen2"));
  CHECK_THAT(made.run({"tokenizer", "train", "--to", "new", "nowhere"}, 1), ContainsSubstring("nowhere"));
  CHECK_FALSE(std::filesystem::exists(made.folder / "new"));
  CHECK_THAT(made.run({"tokenizer", "decode", "--tokenizer", "learnt", "texts/a.txt"}, 1),
             ContainsSubstring("is no token file"));
}

TEST_CASE("A run speaks, and is exported when its tokenizer's folder and texts are gone", "[program][text]") {
  const TokenizerFolder made;
  made.folder.write("run.yaml",
                    "model: {vocabulary: 290, width: 8, layers: 1, context: 16, block: {attention: {heads: 2}}}\n"
                    "data: {corpus: {kind: text, path: texts, tokenizer: {kind: file, path: learnt}}}\n"
                    "train: {steps: 2, batch: 2, sample: {kind: text, prompt: the cat, tokens: 5}}\n");
  made.run({"train", "run.yaml", "--out", "run"});
  const auto record = nlohmann::json::parse(read_file(made.folder / "run/run.json"));
  CHECK(record["sample"]["prompt"] == "the cat");
  const auto written =
      made.run({"generate", "--model", "run", "--prompt", "the cat", "--tokens", "5", "--temperature", "0"});
  CHECK(written == "the cat" + record["sample"]["text"].get<std::string>() + "\n");
  std::filesystem::rename(made.folder / "run", made.folder / "moved");
  for (const auto* gone : {"learnt", "texts"}) std::filesystem::remove_all(made.folder / gone);
  const auto generate = [&](const std::string& model) {
    return made.run({"generate", "--model", model, "--prompt", "the cat", "--tokens", "5", "--temperature", "0"});
  };
  CHECK(generate("moved") == written);
  CHECK(generate("moved/checkpoints/step_00000002") == written);
  made.run({"export", "moved", "--to", "hub"});
  CHECK(read_file(made.folder / "hub/tokenizer.json") == read_file(made.folder / "moved/tokenizer/tokenizer.json"));
  CHECK(generate("hub") == written);
}

TEST_CASE("A run trains on a text with a tokenizer of its own, and on its token file alike", "[program][text]") {
  const TokenizerFolder made;
  made.run({"tokenizer", "encode", "--tokenizer", "learnt", "--to", "ids", "texts"});
  const std::string rest =
      "model: {vocabulary: 290, width: 8, layers: 1, context: 16, block: {attention: {heads: 2}}}\n"
      "train: {steps: 3, batch: 2}\n";
  const auto corpus = [](const std::string& path) {
    return "data: {corpus: {kind: text, path: " + path +
           ", tokenizer: {kind: file, path: learnt}}, validation_windows: 4}\n";
  };
  std::vector<nlohmann::json> records;
  for (const std::string path : {"texts", "ids"}) {
    made.folder.write(path + ".yaml", corpus(path) + rest);
    made.run({"train", path + ".yaml", "--out", "run_" + path});
    records.push_back(nlohmann::json::parse(read_file(made.folder / ("run_" + path + "/run.json"))));
  }
  CHECK(records[0]["validation"]["loss"] == records[1]["validation"]["loss"]);
  CHECK(records[0]["data_hash"] == records[1]["data_hash"]);
  CHECK(records[0]["tokenizer"] == records[1]["tokenizer"]);
  CHECK(records[0]["validation"]["bits_per_byte"].get<double>() > 0);
  made.run({"export", "run_texts", "--to", "hub"});
  CHECK(read_file(made.folder / "hub/tokenizer.json") == read_file(made.folder / "learnt/tokenizer.json"));
  const auto end = open_tokenizer(made.folder / "learnt")->end_of_text();
  REQUIRE(end.has_value());
  for (const auto* file : {"hub/config.json", "hub/generation_config.json"})
    CHECK(nlohmann::json::parse(read_file(made.folder / file))["eos_token_id"] == *end);

  const auto small = made.run({"train", "texts.yaml", "--set", "model.vocabulary=256", "--out", "small"}, 2);
  CHECK_THAT(small, ContainsSubstring("model.vocabulary: is 256, but the tokenizer") &&
                        ContainsSubstring("has ids up to 289"));
}

TEST_CASE("A study of tokenizers is reported in bits per byte", "[program][text]") {
  const TokenizerFolder made;
  made.folder.write("base.yaml",
                    "model: {vocabulary: 256, width: 8, layers: 1, context: 16, block: {attention: {heads: 2}}}\n"
                    "data: {corpus: {kind: text, path: texts}, validation_windows: 4}\ntrain: {steps: 2, batch: 2}\n");
  made.folder.write(
      "study.yaml",
      "name: pieces\nquestion: Bytes or pieces?\nbase: base.yaml\nseeds: [0, 1]\narms:\n  bytes: {}\n  pieces:\n"
      "    model: {vocabulary: 290}\n    data: {corpus: {tokenizer: {kind: file, path: learnt}}}\n");
  made.run({"ablate", "study.yaml", "--out", "runs"});
  const auto report = read_file(made.folder / "runs/report.md");
  CHECK_THAT(report, ContainsSubstring("nats per token of different tokens do not compare") &&
                         ContainsSubstring("arm - base, bits per byte, paired by seed") &&
                         ContainsSubstring("same training and validation text in all 4 finished runs (by hash)"));
  CHECK_THAT(read_file(made.folder / "runs/comparisons.csv"), ContainsSubstring("difference_bits_per_byte"));
}

}  // namespace blockzoo
