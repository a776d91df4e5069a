#include "prompt_source.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <iostream>
#include <iterator>
#include <sstream>

#include "blockzoo/hub/atomic_file.h"
#include "blockzoo/hub/weights.h"

namespace blockzoo {
namespace {

/// A file without the line end that editors put there; "-" is what comes in.
std::string prompt_in(const std::string& file) {
  auto text = file == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : read_file(file);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::vector<int64_t> ids_in(const std::string& words) {
  std::istringstream stream(words);
  std::vector<int64_t> ids;
  for (std::string word; stream >> word;) {
    int64_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size())
      throw std::runtime_error(fmt::format("--ids '{}': '{}' is no token id", words, word));
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

std::unique_ptr<Tokenizer> named_tokenizer(const PromptSource& source, const SourcedModel& model) {
  return source.tokenizer.empty() ? model_tokenizer(model) : open_tokenizer(source.tokenizer);
}

std::unique_ptr<Tokenizer> prompt_tokenizer(const PromptSource& source, const SourcedModel& model,
                                            const std::string& named) {
  if (source.texts() == !source.ids.empty())
    throw std::runtime_error(source.texts() ? "--ids stands alone: prompts are ids or texts, not both"
                                            : "there is no prompt; give --prompt, --prompt-file or --ids");
  if (!source.texts()) return nullptr;
  auto tokenizer = named_tokenizer(source, model);
  if (tokenizer == nullptr)
    throw std::runtime_error(named + " does not say how text becomes ids; give --tokenizer, or prompts by --ids");
  return tokenizer;
}

std::vector<Prompt> read_prompts(const PromptSource& source, const Tokenizer* tokenizer, bool of_run) {
  std::vector<Prompt> prompts;
  for (const auto& words : source.ids) prompts.push_back({"", ids_in(words)});
  std::vector<std::string> texts = source.prompts;
  for (const auto& file : source.files) texts.push_back(prompt_in(file));
  for (const auto& text : texts) {
    const auto ids = tokenizer->encode(text);
    prompts.push_back({text, of_run ? ids : tokenizer->framed(ids)});
  }
  return prompts;
}

Model ready_model(SourcedModel& source, const std::string& named, const std::string& precision) {
  Model model(source.loaded.config);
  load_weights(*model, source.loaded.weights, named);
  source.loaded.weights.clear();
  if (precision == "bfloat16") model->to(at::kBFloat16);
  return model;
}

}  // namespace blockzoo
