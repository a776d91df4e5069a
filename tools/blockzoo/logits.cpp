#include <ATen/ATen.h>
#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <iostream>
#include <memory>
#include <sstream>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/npy.h"
#include "blockzoo/hub/weights.h"
#include "blockzoo/nn/model.h"
#include "commands.h"
#include "model_source.h"

namespace blockzoo {
namespace {

struct LogitsArguments {
  ModelSource source;
  std::string tokens;
  std::string out;
};

/// Ids separated by white space, one sequence a line, all of one length. Returns [sequences, T].
at::Tensor read_tokens(const std::string& path, int64_t vocabulary) {
  std::istringstream file(read_file(path));
  std::vector<int64_t> ids;
  int64_t sequences = 0, length = 0, line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    std::istringstream words(line);
    int64_t count = 0;
    for (std::string word; words >> word; ++count) {
      int64_t id = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
      if (error != std::errc() || end != word.data() + word.size() || id < 0 || id >= vocabulary)
        throw std::runtime_error(fmt::format("{}:{}: '{}' is not a token id; ids run from 0 to {}", path, line_number,
                                             word, vocabulary - 1));
      ids.push_back(id);
    }
    if (count == 0) continue;
    if (sequences++ == 0) length = count;
    if (count != length)
      throw std::runtime_error(fmt::format("{}:{}: {} ids, but the first sequence has {}; all must have one length",
                                           path, line_number, count, length));
  }
  if (sequences == 0) throw std::runtime_error(path + ": no token ids");
  return at::tensor(ids, at::kLong).view({sequences, length});
}

void write_logits(const LogitsArguments& arguments) {
  const auto [config, weights] = load_model(arguments.source).loaded;
  Model model(config);
  load_weights(*model, weights, arguments.source.model);
  const auto tokens = read_tokens(arguments.tokens, config.vocabulary);
  if (tokens.size(1) > config.context)
    throw std::runtime_error(fmt::format("{}: sequences of {} ids are longer than the model's context, {}",
                                         arguments.tokens, tokens.size(1), config.context));
  const at::NoGradGuard no_grad;
  model->eval();
  const auto logits = model(tokens).to(at::kFloat);
  save_npy(arguments.out, logits);
  std::cout << fmt::format("{}: float32 logits [{}, {}, {}]\n", arguments.out, logits.size(0), logits.size(1),
                           logits.size(2));
}

}  // namespace

void add_logits_command(CLI::App& app) {
  auto arguments = std::make_shared<LogitsArguments>();
  auto* command = app.add_subcommand("logits", "Write a model's logits for given token ids");
  command->add_option("--model", arguments->source.model, kModelHelp)->required();
  add_source_options(*command, arguments->source);
  command->add_option("--tokens", arguments->tokens, "text file of ids, separated by blanks, one sequence a line")
      ->required();
  command->add_option("--out", arguments->out, "NumPy file to write: float32 [sequences, T, V]")->required();
  command->footer("Example: blockzoo logits --model runs/tiny --tokens ids.txt --out logits.npy");
  command->callback([arguments] { write_logits(*arguments); });
}

}  // namespace blockzoo
