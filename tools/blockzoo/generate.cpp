#include "blockzoo/infer/generate.h"

#include <ATen/Parallel.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/stop_ids.h"
#include "blockzoo/train/run.h"
#include "blockzoo/train/stop.h"
#include "checks.h"
#include "commands.h"
#include "generated_texts.h"
#include "model_source.h"
#include "prompt_source.h"

namespace blockzoo {
namespace {

struct GenerateArguments {
  ModelSource source;
  PromptSource prompts;
  std::vector<std::string> stops;
  std::string precision = "float32", logprobs;
  GenerateOptions options;
  int64_t seed = 0;
  int threads = 0;
  bool ignore_eos = false, json = false;
};

/// Only texts need a tokenizer.
std::unique_ptr<Tokenizer> tokenizer_for(const GenerateArguments& arguments, const SourcedModel& model) {
  auto tokenizer = prompt_tokenizer(arguments.prompts, model, arguments.source.model);
  if (tokenizer == nullptr && (!arguments.prompts.tokenizer.empty() || !arguments.stops.empty()))
    throw std::runtime_error("--tokenizer and --stop are for texts; prompts given by --ids are continued by ids");
  return tokenizer;
}

std::vector<int64_t> ends_of(const GenerateArguments& arguments, const Tokenizer* tokenizer) {
  if (arguments.ignore_eos) return {};
  if (is_hub_folder(arguments.source.model)) {
    if (auto ids = stop_ids(arguments.source.model); !ids.empty()) return ids;
  }
  const auto end = tokenizer == nullptr ? std::nullopt : tokenizer->end_of_text();
  return end ? std::vector{*end} : std::vector<int64_t>{};
}

/// "--top-p" for the field top_p that a message begins with.
[[noreturn]] void refuse_option(std::string message) {
  const auto word = std::min(message.find(' '), message.size());
  std::replace(message.begin(), message.begin() + static_cast<int64_t>(word), '_', '-');
  throw std::runtime_error("--" + message);
}

/// When the first token came, and how many have come.
struct Pace {
  using Clock = std::chrono::steady_clock;
  Clock::time_point started = Clock::now(), first = started;
  int64_t tokens = 0;

  void count() {
    if (tokens++ == 0) first = Clock::now();
  }
  std::string told(size_t prompt_tokens, size_t texts) const {
    const auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
    auto text = fmt::format("{} prompt tokens in {:.2f} s", prompt_tokens, seconds(first - started));
    const auto later = tokens - static_cast<int64_t>(texts);  // the first ones come with the prompts
    const double decoding = seconds(Clock::now() - first);
    if (later > 0)
      text += fmt::format("; {} new tokens, {:.1f} tokens/s", tokens, static_cast<double>(later) / decoding);
    return text;
  }
};

void print_texts(const GeneratedTexts& texts) {
  for (size_t text = 0; text < texts.size(); ++text)
    std::cout << (text > 0 ? "---------------\n" : "") << texts.before(text) << texts.shown(text) << "\n";
}

void tell_full_contexts(const GeneratedTexts& texts, const std::vector<Continuation>& done, int64_t context) {
  for (size_t text = 0; text < texts.size(); ++text) {
    if (done[text].ending != Ending::kContext) continue;
    std::cerr << fmt::format("prompt {}: ended after {} new tokens; the model's context of {} tokens is full\n",
                             text / texts.samples() + 1, done[text].ids.size(), context);
  }
}

void write_texts(const GenerateArguments& arguments) {
  at::set_num_threads(
      static_cast<int>(thread_count(arguments.threads > 0 ? std::optional<int64_t>(arguments.threads) : std::nullopt)));
  if (const auto folder = std::filesystem::path(arguments.logprobs).parent_path();
      !folder.empty() && !std::filesystem::is_directory(folder))
    throw std::runtime_error("--logprobs '" + arguments.logprobs + "': there is no folder " + folder.string());
  auto source = load_model(arguments.source);
  for (const auto& note : source.notes) std::cerr << note << "\n";
  const auto tokenizer = tokenizer_for(arguments, source);
  const auto prompts = read_prompts(arguments.prompts, tokenizer.get(), source.run.has_value());
  auto options = arguments.options;
  options.seed = static_cast<uint64_t>(arguments.seed);
  options.stop_ids = ends_of(arguments, tokenizer.get());
  options.log_probabilities = !arguments.logprobs.empty();
  auto model = ready_model(source, arguments.source.model, arguments.precision);

  std::vector<std::vector<int64_t>> ids;
  size_t prompt_tokens = 0;
  for (const auto& prompt : prompts) prompt_tokens += ids.emplace_back(prompt.ids).size();
  GeneratedTexts texts(prompts, options.samples, tokenizer.get(), arguments.stops);
  const bool streamed = !arguments.json && texts.size() == 1;
  Pace pace;
  const auto done = generate(*model, ids, options, [&](size_t text, int64_t id) {
    if (streamed && pace.tokens == 0) std::cout << texts.before(text);
    pace.count();
    const auto fresh = texts.push(text, id);
    if (streamed) std::cout << fresh << std::flush;
    return !texts.stopped(text) && stop_signal() == 0;
  });
  const auto told = pace.told(prompt_tokens, texts.size());
  for (size_t text = 0; text < texts.size(); ++text) {
    const auto rest = texts.finish(text);
    if (streamed) std::cout << (pace.tokens == 0 ? texts.before(text) : "") << rest << "\n";
  }
  if (arguments.json) {
    std::cout << texts_json(texts, done);
  } else if (!streamed) {
    print_texts(texts);
  }
  std::cout << std::flush;
  if (options.log_probabilities) write_file(arguments.logprobs, log_probabilities_json(texts, done, tokenizer.get()));
  tell_full_contexts(texts, done, model->config().context);
  std::cerr << told << "\n";
  if (stop_signal() != 0) throw ExitWith{128 + stop_signal()};
}

}  // namespace

void add_generate_command(CLI::App& app) {
  auto arguments = std::make_shared<GenerateArguments>();
  auto& options = arguments->options;
  auto& sampling = options.sampling;
  auto* command = app.add_subcommand("generate", "Continue prompts");
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* help) {
    command->add_option(name, values, help)->allow_extra_args(false);
  };
  command->add_option("--model", arguments->source.model, kModelHelp)->required();
  add_source_options(*command, arguments->source);
  list("--prompt", arguments->prompts.prompts, "text to continue; may be repeated");
  list("--prompt-file", arguments->prompts.files,
       "file with a text to continue, '-' is standard input; may be repeated");
  list("--ids", arguments->prompts.ids, "token ids to continue, as in --ids '1 2 3'; may be repeated");
  command->add_option("--tokenizer", arguments->prompts.tokenizer,
                      "tokenizer.json, or a folder with one, for a model that does not say");
  command->add_option("--tokens", options.tokens, "most new tokens of a text")->capture_default_str();
  command->add_option("--samples", options.samples, "texts from each prompt")->capture_default_str();
  command->add_option("--temperature", sampling.temperature, "divides the logits; 0 takes the likeliest token")
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "draw from this many likeliest tokens; 0 means all")
      ->capture_default_str();
  command->add_option("--top-p", sampling.top_p, "draw from the likeliest tokens that together have this probability")
      ->capture_default_str();
  command->add_option("--min-p", sampling.min_p, "draw from tokens at least this share as likely as the likeliest")
      ->capture_default_str();
  command
      ->add_option("--repetition-penalty", sampling.repetition_penalty,
                   "divides the logits of tokens that were there, or multiplies negative ones; 1 means none")
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "any whole number; equal seeds give equal texts")
      ->capture_default_str();
  list("--stop", arguments->stops, "end a text before this one; may be repeated");
  command->add_flag("--ignore-eos", arguments->ignore_eos, "go on after the token that ends a text");
  command->add_option("--chunk", options.chunk, "prompt tokens that are read at a time")->capture_default_str();
  command->add_option("--precision", arguments->precision, "type of weights and kept keys and values")
      ->check(CLI::IsMember({"float32", "bfloat16"}))
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "processor threads; as many as there are cores when not given")
      ->check(above_zero);
  command->add_option("--logprobs", arguments->logprobs,
                      "file to write: each new token's log-probability by the model, a JSON document a line");
  command->add_flag("--json", arguments->json, "print a JSON document a line for each text");
  command->footer(
      "Example: blockzoo generate --model runs/stories --prompt 'Once upon a time' --tokens 200 --temperature 0.8");
  command->callback([arguments] {
    try {
      write_texts(*arguments);
    } catch (const std::invalid_argument& error) {
      refuse_option(error.what());
    }
  });
}

}  // namespace blockzoo
