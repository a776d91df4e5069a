#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "blockzoo/core/fields.h"
#include "blockzoo/data/stories.h"
#include "blockzoo/data/text.h"
#include "blockzoo/data/tokens.h"

namespace blockzoo {

/// Every corpus in the zoo; the first is the default. A new corpus is added to this list.
using CorpusConfig = std::variant<StoriesConfig, TextConfig, TokensConfig>;

/// What is trained and validated on. The same for every arm of a study.
struct DataConfig {
  CorpusConfig corpus;
  int64_t seed = 0;
  int64_t validation_windows = 128;

  static void fields(auto& self, auto& visit) {
    visit("corpus", self.corpus, "the text");
    visit("seed", self.seed, not_negative, "order of the training windows");
    visit("validation_windows", self.validation_windows, not_negative,
          "windows of one context each, spread evenly over the validation data; 0 means all that fit");
  }
};

/// Opens, checks and hashes the data; throws as the kind's own open_corpus does. A template, so that a kind without one
/// of its own fails to compile instead of converting to the variant and coming back here.
template <class... Kinds>
Corpus open_corpus(const std::variant<Kinds...>& config) {
  return std::visit([](const auto& kind) { return open_corpus(kind); }, config);
}

/// The vocabulary that a model needs for it, without touching a file; 0 when a tokenizer's file has to say.
int64_t vocabulary_size(const CorpusConfig& config);

/// The file of the corpus's tokenizer; null when it needs none.
const FileTokenizerConfig* tokenizer_file_of(const CorpusConfig& config);

/// The paths that a config names, to be read or changed.
std::vector<std::string*> paths_of(CorpusConfig& config);

/// Makes relative paths absolute, seen from `folder`.
void resolve_paths(CorpusConfig& config, const std::filesystem::path& folder);

}  // namespace blockzoo
