#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "support/catch.h"
#include "support/program.h"
#include "support/temporary_folder.h"

namespace blockzoo {
namespace {

using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

constexpr auto kByteModel =
    "model: {vocabulary: 256, width: 16, layers: 2, context: 48, block: {attention: {heads: 2}}}\n";
constexpr auto kIdModel =
    "model: {vocabulary: 11, width: 16, layers: 1, context: 16, block: {attention: {heads: 2}}}\n";

/// A folder with a model of bytes and one of ids, untrained.
struct PromptFolder {
  PromptFolder() {
    for (const auto& [name, text] : {std::pair("bytes", kByteModel), std::pair("ids", kIdModel)}) {
      folder.write(std::string(name) + ".yaml", text);
      Model model(load_model_config(folder / (std::string(name) + ".yaml")));
      model->init_parameters(4);
      const at::NoGradGuard no_grad;
      for (auto& parameter : model->parameters()) parameter.mul_(parameter.dim() == 2 ? 3 : 1);
      save_weights(*model, folder / (std::string(name) + ".safetensors"));
    }
  }
  /// Runs generate on model `name`, which must end with `code`.
  std::string run(const std::string& name, const Words& more, int code = 0) {
    Words arguments{"generate", "--model", name + ".yaml", "--weights", name + ".safetensors"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return call(arguments, code);
  }
  std::string call(const Words& arguments, int code = 0) {
    Program program(folder.path(), arguments);
    const int ended = program.wait();
    error = program.error();
    INFO(error);
    REQUIRE(ended == code);
    return program.out();
  }
  TemporaryFolder folder;
  std::string error;  // of the last call
};

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("A text comes out piece by piece as it does at once, and never with half a character", "[program][torch]") {
  PromptFolder made;
  for (const std::string seed : {"0", "-1"}) {
    const Words arguments{"--prompt", "Once é", "--tokens", "30", "--seed=" + seed};
    const auto streamed = made.run("bytes", arguments);
    CHECK_THAT(made.error, ContainsSubstring("7 prompt tokens in") && ContainsSubstring("30 new tokens, ") &&
                               ContainsSubstring("tokens/s"));
    auto as_json = arguments;
    as_json.push_back("--json");
    const auto lines = json_lines(made.run("bytes", as_json));
    REQUIRE(lines.size() == 1);
    CHECK(streamed == "Once é" + lines[0]["text"].get<std::string>() + "\n");
    CHECK(lines[0]["ids"].size() == 30);
    CHECK(lines[0]["prompt_ids"].size() == 7);
    CHECK(lines[0]["ending"] == "tokens");
    CHECK_NOTHROW(nlohmann::json(streamed).dump());  // which refuses what is no UTF-8
  }
}

TEST_CASE("Several prompts and samples come one after the other, each as it is alone", "[program][torch]") {
  PromptFolder made;
  made.folder.write("second.txt", "and a longer one\n");
  const Words several{"--prompt", "a", "--prompt-file", "second.txt", "--samples", "2", "--tokens", "9"};
  const auto all = made.run("bytes", several);
  CHECK_THAT(made.error, ContainsSubstring("17 prompt tokens") && ContainsSubstring("36 new tokens"));
  auto as_json = several;
  as_json.push_back("--json");
  const auto lines = json_lines(made.run("bytes", as_json));
  REQUIRE(lines.size() == 4);
  std::string expected;
  for (size_t i = 0; i < 4; ++i) {
    CHECK(lines[i]["prompt"] == i / 2);
    CHECK(lines[i]["sample"] == i % 2);
    CHECK(lines[i]["prompt_text"] == (i < 2 ? "a" : "and a longer one"));
    expected += (i > 0 ? "---------------\n" : "") + lines[i]["prompt_text"].get<std::string>() +
                lines[i]["text"].get<std::string>() + "\n";
  }
  CHECK(all == expected);
  CHECK(lines[0]["ids"] != lines[1]["ids"]);
  const auto alone = json_lines(
      made.run("bytes", {"--prompt", "and a longer one", "--tokens", "9", "--chunk", "3", "--threads", "1", "--json"}));
  CHECK(alone[0]["ids"] == lines[2]["ids"]);
}

TEST_CASE("A text ends before a stop text, and at the model's context with a message", "[program][torch]") {
  PromptFolder made;
  Words greedy{"--prompt", "Tom", "--temperature", "0", "--tokens", "20", "--json"};
  const auto whole = json_lines(made.run("bytes", greedy))[0];
  const auto text = whole["text"].get<std::string>();
  const auto begins = [&](size_t at) { return at == text.size() || (text[at] & 0xC0) != 0x80; };  // a character
  auto first = text.size() / 2;
  while (!begins(first)) ++first;
  auto behind = first + 1;
  while (!begins(behind)) ++behind;
  const auto stop = text.substr(first, behind - first);
  greedy.insert(greedy.end(), {"--stop", stop, "--stop", "never there"});
  const auto stopped = json_lines(made.run("bytes", greedy))[0];
  CHECK_FALSE(stop.empty());
  CHECK(stopped["text"] == text.substr(0, text.find(stop)));
  CHECK(stopped["ending"] == "stop_text");

  const auto full = json_lines(made.run("bytes", {"--prompt", std::string(40, 'x'), "--tokens", "20", "--json"}))[0];
  CHECK(full["ids"].size() == 9);
  CHECK(full["ending"] == "context");
  CHECK_THAT(made.error,
             ContainsSubstring("prompt 1: ended after 9 new tokens; the model's context of 48 tokens is full"));
  made.run("bytes", {"--prompt", "b", "--prompt", std::string(49, 'x')}, 1);
  CHECK_THAT(made.error, ContainsSubstring("prompt 2 has 49 tokens, but the model's context is 48"));
}

TEST_CASE("Prompts of ids are continued by ids, with the log-probability of each", "[program][torch]") {
  PromptFolder made;
  const auto out = made.run("ids", {"--ids", "1 2 3", "--tokens", "4", "--logprobs", "l.jsonl"});
  std::istringstream words(out);
  std::vector<int64_t> ids;
  for (int64_t id = 0; words >> id;) ids.push_back(id);
  REQUIRE(ids.size() == 7);
  CHECK(std::vector<int64_t>(ids.begin(), ids.begin() + 3) == std::vector<int64_t>{1, 2, 3});
  const auto lines = json_lines(read_file(made.folder / "l.jsonl"));
  REQUIRE(lines.size() == 4);
  for (size_t token = 0; token < 4; ++token) {
    CHECK(lines[token]["token"] == token);
    CHECK(lines[token]["id"] == ids[3 + token]);
    CHECK(lines[token]["log_probability"] < 0);
  }
}

TEST_CASE("A run, its checkpoint and its Hugging Face folder continue a prompt alike", "[program][torch]") {
  PromptFolder made;
  made.folder.write("run.yaml",
                    "model: {width: 16, layers: 2, context: 24, block: {attention: {heads: 2}}}\n"
                    "data: {corpus: {kind: stories, train_stories: 32, validation_stories: 4}, validation_windows: 8}\n"
                    "train: {steps: 3, batch: 4, threads: 1}\n");
  made.call({"train", "run.yaml", "--out", "run", "--quiet"});
  made.call({"export", "run", "--to", "hub"});
  const auto text = [&](const std::string& model, const std::string& precision) {
    return made.call({"generate", "--model", model, "--prompt", "Tom ", "--tokens", "12", "--temperature", "0",
                      "--precision", precision});
  };
  const auto of_run = text("run", "float32");
  CHECK(of_run.size() > 5);
  CHECK(text("run/checkpoints/step_00000003", "float32") == of_run);
  CHECK(text("hub", "float32") == of_run);
  CHECK(text("run", "bfloat16").starts_with("Tom "));
}

TEST_CASE("Ctrl-C leaves the text so far, whole characters and a line end, and exit code 130", "[program][torch]") {
  PromptFolder made;
  made.folder.write("long.yaml",
                    "model: {vocabulary: 256, width: 16, layers: 1, context: 1000000, block: {attention: {heads: 2, "
                    "window: 8}, position: {kind: none}}}\n");
  Model model(load_model_config(made.folder / "long.yaml"));
  model->init_parameters(4);
  save_weights(*model, made.folder / "long.safetensors");
  const auto start = [&](const Words& more) {
    Words arguments{"generate", "--model", "long.yaml", "--weights", "long.safetensors",
                    "--prompt", "Once é",  "--tokens",  "999990"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<Program>(made.folder.path(), arguments);
  };
  const auto interrupt = [](Program& program) {
    program.send(SIGINT);
    CHECK(program.wait() == 128 + SIGINT);
    CHECK_THAT(program.error(), ContainsSubstring("prompt tokens in"));
    return program.out();
  };
  const auto streaming = start({"--logprobs", "l.jsonl"});
  REQUIRE(eventually([&] {
    const auto out = made.folder / "stdout.txt";
    return std::filesystem::exists(out) && std::filesystem::file_size(out) > 1000;
  }));
  const auto streamed = interrupt(*streaming);
  CHECK(streamed.starts_with("Once é"));
  CHECK(streamed.ends_with("\n"));
  CHECK_NOTHROW(nlohmann::json(streamed).dump());  // which refuses what is no UTF-8
  CHECK(json_lines(read_file(made.folder / "l.jsonl")).size() > 300);

  const auto pipe = made.folder / "pipe";  // whose reader has its signal handlers
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto silent = start({"--json", "--prompt-file", "pipe"});
  std::ofstream(pipe) << "and another";
  for (const auto& line : json_lines(interrupt(*silent))) {
    CHECK(line["ending"] == "interrupted");
    CHECK_FALSE(line["ids"].empty());
  }
}

TEST_CASE("What generate cannot do is refused in one line", "[program][error][torch]") {
  PromptFolder made;
  const auto refusal = [&](const std::string& name, const Words& arguments) {
    CHECK(made.run(name, arguments, 1).empty());
    CHECK(std::count(made.error.begin(), made.error.end(), '\n') == 1);
    return made.error;
  };
  CHECK_THAT(refusal("bytes", {}), ContainsSubstring("give --prompt, --prompt-file or --ids"));
  CHECK_THAT(refusal("bytes", {"--prompt", "a", "--ids", "1"}), ContainsSubstring("--ids stands alone"));
  CHECK_THAT(refusal("bytes", {"--prompt", ""}), ContainsSubstring("prompt 1 is empty"));
  CHECK_THAT(refusal("bytes", {"--ids", "1 x"}), ContainsSubstring("--ids '1 x': 'x' is no token id"));
  CHECK_THAT(refusal("ids", {"--ids", "1 11"}), ContainsSubstring("the id 11; the model's ids run from 0 to 10"));
  CHECK_THAT(refusal("ids", {"--prompt", "a"}), ContainsSubstring("give --tokenizer, or prompts by --ids"));
  CHECK_THAT(refusal("ids", {"--ids", "1", "--stop", "a"}), ContainsSubstring("--stop are for texts"));
  CHECK_THAT(refusal("bytes", {"--prompt-file", "none.txt"}), ContainsSubstring("none.txt"));
  const auto option = [&](const Words& arguments) {
    Words all{"--prompt", "a"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return refusal("bytes", all);
  };
  CHECK(option({"--top-p", "1.5"}) == "error: --top-p must be from 0 to 1, got 1.5\n");
  CHECK_THAT(option({"--temperature", "nan"}), ContainsSubstring("--temperature must be 0 or a positive number"));
  CHECK_THAT(option({"--logprobs", "nowhere/l.jsonl"}), ContainsSubstring("there is no folder nowhere"));
  CHECK_THAT(option({"--tokens", "0"}), ContainsSubstring("--tokens must be 1 or more"));
  CHECK_THAT(option({"--stop", ""}), ContainsSubstring("--stop must not be empty"));
}

}  // namespace blockzoo
