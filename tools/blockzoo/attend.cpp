#include <ATen/Parallel.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>

#include "attention_text.h"
#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/lab/attention_report.h"
#include "blockzoo/text/token_texts.h"
#include "blockzoo/train/run.h"
#include "checks.h"
#include "commands.h"
#include "model_source.h"
#include "number_ranges.h"
#include "prompt_source.h"

namespace blockzoo {
namespace {

struct AttendArguments {
  ModelSource source;
  PromptSource prompts;
  std::string layers, heads, html, json, random_from, precision = "float32";
  bool induction = false;
  InductionOptions random;
  int64_t seed = 0, maps = 6;
  int threads = 0;
};

void check_arguments(const AttendArguments& arguments) {
  const auto refuse = [](const std::string& message) { throw std::runtime_error(message); };
  const auto& prompts = arguments.prompts;
  if (prompts.empty() && !arguments.induction)
    refuse("there is nothing to look at; give --prompt, --prompt-file, --ids or --induction");
  if (prompts.empty() && !arguments.html.empty()) refuse("--html shows what the heads do on a text; give --prompt");
  if (const auto given = prompts.prompts.size() + prompts.files.size() + prompts.ids.size(); given > 1)
    refuse(fmt::format("attend looks at one prompt, got {}", given));
  if (!prompts.tokenizer.empty() && !prompts.texts() && !arguments.induction)
    refuse("--tokenizer is for texts and for --induction; prompts given by --ids are shown by ids");
}

/// Ids that stand for text; all of the model's where nothing says which do.
std::vector<int64_t> drawable_ids(const Tokenizer* tokenizer, const std::string& from, int64_t vocabulary) {
  std::vector<int64_t> ids;
  if (!from.empty()) {
    if (tokenizer == nullptr)
      throw std::runtime_error("--random-from is a text; give --tokenizer, which makes ids of it");
    ids = tokenizer->encode(from);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  } else {
    ids.resize(static_cast<size_t>(tokenizer == nullptr ? vocabulary : tokenizer->vocabulary()));
    std::iota(ids.begin(), ids.end(), 0);
  }
  std::erase_if(
      ids, [&](int64_t id) { return id >= vocabulary || (tokenizer != nullptr && tokenizer->text_bytes(id) == 0); });
  return ids;
}

/// What the tokenizer puts before a text; nothing for runs, whose texts have nothing around them.
std::vector<int64_t> ids_before_text(const Tokenizer* tokenizer, bool of_run, int64_t some_id) {
  if (tokenizer == nullptr || of_run) return {};
  auto ids = tokenizer->framed({some_id});
  ids.erase(std::find(ids.begin(), ids.end(), some_id), ids.end());
  return ids;
}

InductionScores scores_for(const AttendArguments& arguments, ModelImpl& model, const Tokenizer* tokenizer,
                           bool of_run) {
  auto options = arguments.random;
  options.seed = static_cast<uint64_t>(arguments.seed);
  options.ids = drawable_ids(tokenizer, arguments.random_from, model.config().vocabulary);
  if (!options.ids.empty()) options.before = ids_before_text(tokenizer, of_run, options.ids.front());
  try {
    return induction_scores(model, options);
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(std::string("--") + error.what());
  }
}

/// Adds the weights and figures of the layers and heads that were asked for.
void read_prompt(const AttendArguments& arguments, ModelImpl& model, const Tokenizer* tokenizer, bool of_run,
                 const std::vector<int64_t>& layers, AttentionReport& report) {
  report.ids = read_prompts(arguments.prompts, tokenizer, of_run).front().ids;
  const auto maps = attention_maps(model, report.ids, layers);
  if (tokenizer != nullptr) {
    report.tokens = token_texts(*tokenizer, report.ids);
  } else {
    for (const auto id : report.ids) report.tokens.push_back(std::to_string(id));
  }
  for (const auto& map : maps) {
    const auto figures = head_figures(map);
    for (int64_t head = 0; head < map.weights.size(0); ++head)
      report.heads.push_back({map.layer, head, map.weights[head], figures[static_cast<size_t>(head)]});
  }
}

/// The most heads that one of these layers has.
int64_t most_heads(const ModelConfig& config, const std::vector<int64_t>& layers) {
  const auto blocks = expand_layers(config);
  int64_t most = 0;
  for (const auto layer : layers)
    most = std::max(most, std::visit([](const auto& attention) { return attention.heads; },
                                     blocks[static_cast<size_t>(layer)].attention));
  return most;
}

void show_attention(const AttendArguments& arguments) {
  check_arguments(arguments);
  at::set_num_threads(
      static_cast<int>(thread_count(arguments.threads > 0 ? std::optional<int64_t>(arguments.threads) : std::nullopt)));
  auto source = load_model(arguments.source);
  for (const auto& note : source.notes) std::cerr << note << "\n";
  const auto& config = source.loaded.config;
  const auto layers = numbers_in(arguments.layers, config.layers, "--layers", "layers");
  const auto heads = numbers_in(arguments.heads, most_heads(config, layers), "--heads", "heads");
  const bool of_run = source.run.has_value();
  std::unique_ptr<Tokenizer> tokenizer;
  if (arguments.prompts.texts()) {
    tokenizer = prompt_tokenizer(arguments.prompts, source, arguments.source.model);
  } else if (arguments.induction) {
    tokenizer = named_tokenizer(arguments.prompts, source);
  }
  auto model = ready_model(source, arguments.source.model, arguments.precision);

  AttentionReport report{.model = arguments.source.model, .ids = {}, .tokens = {}, .heads = {}, .induction = {}};
  if (!arguments.prompts.empty())
    read_prompt(arguments, *model, arguments.prompts.texts() ? tokenizer.get() : nullptr, of_run, layers, report);
  if (arguments.induction) report.induction = scores_for(arguments, *model, tokenizer.get(), of_run);
  const auto unwanted = [&](const auto& each) {
    return !std::binary_search(layers.begin(), layers.end(), each.layer) ||
           !std::binary_search(heads.begin(), heads.end(), each.head);
  };
  std::erase_if(report.heads, unwanted);
  if (report.induction) std::erase_if(report.induction->heads, unwanted);

  if (!arguments.html.empty()) {
    const auto sum = write_file(arguments.html, attention_page(report));
    std::cerr << fmt::format("{}: {:.1f} MiB\n", arguments.html, static_cast<double>(sum.bytes) / (1 << 20));
  }
  if (arguments.json == "-") {
    std::cout << attention_json(report) << std::flush;
    return;
  }
  if (!arguments.json.empty()) write_file(arguments.json, attention_json(report));
  std::cout << fmt::format("{} ({})", report.model, source.told);
  if (!report.ids.empty()) std::cout << fmt::format(": {} tokens", report.ids.size());
  std::cout << "\n\n" << induction_text(report) << (report.induction ? "\n" : "") << heads_table(report);
  if (!report.ids.empty() && arguments.maps > 0)
    std::cout << "\n" << maps_text(report, arguments.maps, screen_of_output());
  std::cout << std::flush;
}

}  // namespace

void add_attend_command(CLI::App& app) {
  auto arguments = std::make_shared<AttendArguments>();
  auto& random = arguments->random;
  auto* command = app.add_subcommand("attend", "Show what attention heads look at, and find induction heads");
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* help) {
    command->add_option(name, values, help)->allow_extra_args(false);
  };
  command->add_option("model,--model", arguments->source.model, kModelHelp)->required();
  add_source_options(*command, arguments->source);
  list("--prompt", arguments->prompts.prompts, "text to look at");
  list("--prompt-file", arguments->prompts.files, "file with a text to look at, '-' is standard input");
  list("--ids", arguments->prompts.ids, "token ids to look at, as in --ids '1 2 3'");
  command->add_option("--tokenizer", arguments->prompts.tokenizer,
                      "tokenizer.json, or a folder with one, for a model that does not say");
  command->add_option("--layers", arguments->layers, "layers, counted from 0, as in 0,3-5; all when not given");
  command->add_option("--heads", arguments->heads, "heads, counted from 0, as in 0,3-5; all when not given");
  command->add_option("--maps", arguments->maps, "most maps that are printed; 0 prints none")
      ->check(zero_or_more)
      ->capture_default_str();
  command->add_option("--html", arguments->html, "page to write: every map, to look at with a pointer");
  command->add_option("--json", arguments->json, "file to write: all weights and figures; '-' prints it instead");
  auto* induction = command->add_flag("--induction", arguments->induction,
                                      "score every head on random sequences that stand there twice");
  command->add_option("--length", random.length, "tokens of such a sequence; 0 means 50, or what fits")
      ->needs(induction)
      ->capture_default_str();
  command->add_option("--sequences", random.sequences, "such sequences; scores are their means")
      ->needs(induction)
      ->capture_default_str();
  command
      ->add_option("--random-from", arguments->random_from,
                   "draw from the tokens of this text; from all that stand for text when not given")
      ->needs(induction);
  command->add_option("--found", random.found, "more weight with the repeat than without: from here on a head is found")
      ->needs(induction)
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of the random sequences, any whole number")
      ->needs(induction)
      ->capture_default_str();
  command->add_option("--precision", arguments->precision, "type of weights")
      ->check(CLI::IsMember({"float32", "bfloat16"}))
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "processor threads; as many as there are cores when not given")
      ->check(above_zero);
  command->footer("Example: blockzoo attend runs/tiny --prompt 'Once upon a time' --induction --html attention.html");
  command->callback([arguments] { show_attention(*arguments); });
}

}  // namespace blockzoo
