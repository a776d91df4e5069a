#include "generated_texts.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "blockzoo/core/names.h"

namespace blockzoo {
namespace {

using TextJson = nlohmann::ordered_json;

std::string words_of(const std::vector<int64_t>& ids) {
  std::string words;
  for (const auto id : ids) words += (words.empty() ? "" : " ") + std::to_string(id);
  return words;
}

/// One line; bytes that are no UTF-8 become U+FFFD.
std::string line_of(const TextJson& json) {
  return json.dump(-1, ' ', false, TextJson::error_handler_t::replace) + "\n";
}

/// How text `text` ended: where its listener ended it without a stop text, a signal came.
std::string_view ending_of(const GeneratedTexts& texts, const std::vector<Continuation>& done, size_t text) {
  if (texts.stopped(text)) return "stop_text";
  return done[text].ending == Ending::kListener ? "interrupted" : name_of(done[text].ending);
}

}  // namespace

GeneratedTexts::GeneratedTexts(std::vector<Prompt> prompts, int64_t samples, const Tokenizer* tokenizer,
                               const std::vector<std::string>& stops)
    : prompts_(std::move(prompts)), samples_(static_cast<size_t>(samples)), tokenizer_(tokenizer) {
  for (const auto& prompt : prompts_) {
    Growing growing{.stream = std::nullopt, .stops = StopTexts(stops), .shown = ""};
    // Some tokenizers write the first id of a text without its space, so the prompt's last id goes before.
    if (tokenizer_ != nullptr) growing.stream.emplace(*tokenizer_);
    if (growing.stream && !prompt.ids.empty()) growing.stream->push(prompt.ids.back());
    for (size_t sample = 0; sample < samples_; ++sample) growing_.push_back(growing);
  }
}

std::string GeneratedTexts::before(size_t text) const {
  return tokenizer_ == nullptr ? words_of(prompt(text).ids) : prompt(text).text;
}

std::string GeneratedTexts::push(size_t text, int64_t id) {
  auto& growing = growing_[text];
  return show(text, growing.stream ? growing.stops.push(growing.stream->push(id)) : " " + std::to_string(id));
}

std::string GeneratedTexts::finish(size_t text) {
  auto& growing = growing_[text];
  const auto last = growing.stream ? growing.stops.push(growing.stream->finish()) : "";
  return show(text, last + growing.stops.finish());
}

std::string GeneratedTexts::show(size_t text, const std::string& fresh) {
  growing_[text].shown += fresh;
  return fresh;
}

std::string texts_json(const GeneratedTexts& texts, const std::vector<Continuation>& done) {
  std::string lines;
  for (size_t text = 0; text < texts.size(); ++text) {
    TextJson json{{"prompt", text / texts.samples()},       {"sample", text % texts.samples()},
                  {"prompt_text", texts.prompt(text).text}, {"text", texts.shown(text)},
                  {"prompt_ids", texts.prompt(text).ids},   {"ids", done[text].ids},
                  {"ending", ending_of(texts, done, text)}};
    lines += line_of(json);
  }
  return lines;
}

std::string log_probabilities_json(const GeneratedTexts& texts, const std::vector<Continuation>& done,
                                   const Tokenizer* tokenizer) {
  std::string lines;
  for (size_t text = 0; text < texts.size(); ++text) {
    for (size_t token = 0; token < done[text].ids.size(); ++token) {
      const auto id = done[text].ids[token];
      TextJson json{{"prompt", text / texts.samples()},
                    {"sample", text % texts.samples()},
                    {"token", token},
                    {"id", id},
                    {"log_probability", done[text].log_probabilities[token]}};
      if (tokenizer != nullptr) json["piece"] = tokenizer->piece(id);
      lines += line_of(json);
    }
  }
  return lines;
}

}  // namespace blockzoo
