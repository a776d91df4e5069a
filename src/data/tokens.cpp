#include "blockzoo/data/tokens.h"

#include "data/id_files.h"

namespace blockzoo {

Corpus open_corpus(const TokensConfig& config) {
  auto corpus = config.dtype == TokenType::kUint16
                    ? open_id_files(IdFiles<uint16_t>{config.path, config.validation, config.vocabulary})
                    : open_id_files(IdFiles<uint32_t>{config.path, config.validation, config.vocabulary});
  corpus.bytes_per_token = config.bytes_per_token;
  return corpus;
}

}  // namespace blockzoo
