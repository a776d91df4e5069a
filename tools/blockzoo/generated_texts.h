#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blockzoo/infer/generate.h"
#include "blockzoo/infer/stop_texts.h"
#include "blockzoo/text/text_stream.h"
#include "prompt_source.h"

namespace blockzoo {

/// The texts that grow behind prompts, `samples` for each, as people see them. Without a tokenizer they are ids.
class GeneratedTexts {
 public:
  /// Errors: std::invalid_argument when a stop text is empty.
  GeneratedTexts(std::vector<Prompt> prompts, int64_t samples, const Tokenizer* tokenizer,
                 const std::vector<std::string>& stops);

  size_t size() const { return growing_.size(); }
  const Prompt& prompt(size_t text) const { return prompts_[text / samples_]; }
  size_t samples() const { return samples_; }

  /// What is shown before the text: its prompt.
  std::string before(size_t text) const;
  /// What another id adds; characters that are not whole and what may begin a stop text are held back.
  std::string push(size_t text, int64_t id);
  /// What is still held back when no more comes.
  std::string finish(size_t text);

  bool stopped(size_t text) const { return growing_[text].stops.found(); }
  const std::string& shown(size_t text) const { return growing_[text].shown; }

 private:
  struct Growing {
    std::optional<TextStream> stream;
    StopTexts stops;
    std::string shown;
  };

  std::string show(size_t text, const std::string& fresh);

  const std::vector<Prompt> prompts_;
  const size_t samples_;
  const Tokenizer* const tokenizer_;
  std::vector<Growing> growing_;
};

/// One JSON document a line for each text; prompts, samples and tokens are counted from 0.
std::string texts_json(const GeneratedTexts& texts, const std::vector<Continuation>& done);

/// The same for each new token.
std::string log_probabilities_json(const GeneratedTexts& texts, const std::vector<Continuation>& done,
                                   const Tokenizer* tokenizer);

}  // namespace blockzoo
