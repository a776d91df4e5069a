#include "blockzoo/data/text.h"

#include "data/id_files.h"

namespace blockzoo {

Corpus open_corpus(const TextConfig& config) {
  auto corpus = open_id_files(IdFiles<uint8_t>{config.path, config.validation, config.vocabulary_size()});
  corpus.bytes_per_token = 1;
  return corpus;
}

}  // namespace blockzoo
