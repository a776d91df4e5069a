#pragma once

#include <unordered_map>

#include "text/json_node.h"
#include "text/tokenizer_parts.h"

namespace blockzoo {

using JsonVocabulary = std::unordered_map<std::string, int64_t>;

/// Reads a model of type BPE into `bpe` and `pieces`.
JsonVocabulary read_model(const JsonNode& model, BpeUnit unit, TokenizerParts& parts);

}  // namespace blockzoo
