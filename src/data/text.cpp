#include "blockzoo/data/text.h"

#include "data/encoded_text.h"
#include "data/id_files.h"

namespace blockzoo {

Corpus open_corpus(const TextConfig& config) {
  if (const auto* file = std::get_if<FileTokenizerConfig>(&config.tokenizer))
    return open_encoded_text(config.path, config.validation, *file);
  auto corpus = open_id_files(IdFiles<uint8_t>{config.path, config.validation, config.vocabulary_size()});
  corpus.bytes_per_token = 1;
  corpus.text_hash = corpus.hash;
  return corpus;
}

}  // namespace blockzoo
