#pragma once

#include <memory>
#include <string>
#include <vector>

#include "blockzoo/nn/model.h"
#include "blockzoo/text/tokenizer.h"
#include "model_source.h"

namespace blockzoo {

/// What a user gives a model to read: texts, files with texts, or ids.
struct PromptSource {
  std::vector<std::string> prompts, files, ids;
  std::string tokenizer;

  bool texts() const { return !prompts.empty() || !files.empty(); }
  bool empty() const { return !texts() && ids.empty(); }
};

/// What a model reads. The text is empty when a user gave ids.
struct Prompt {
  std::string text;
  std::vector<int64_t> ids;
};

/// How text becomes ids: what --tokenizer names, or else the model's own; null when neither does.
std::unique_ptr<Tokenizer> named_tokenizer(const PromptSource& source, const SourcedModel& model);

/// The tokenizer that the prompts need; null for prompts of ids. `named` is what the user called the model. Errors:
/// std::runtime_error when there is no prompt, texts beside ids, or no tokenizer for texts.
std::unique_ptr<Tokenizer> prompt_tokenizer(const PromptSource& source, const SourcedModel& model,
                                            const std::string& named);

/// Prompts of ids come first. Runs are trained on texts without what a tokenizer of a Hugging Face folder puts around
/// them, so theirs have none. Errors: std::runtime_error for what is no id, and files that cannot be read.
std::vector<Prompt> read_prompts(const PromptSource& source, const Tokenizer* tokenizer, bool of_run);

/// The model with its weights, in float32 or bfloat16. The source's weights are given up.
Model ready_model(SourcedModel& source, const std::string& named, const std::string& precision);

}  // namespace blockzoo
