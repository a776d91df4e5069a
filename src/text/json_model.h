#pragma once

#include <unordered_map>

#include "text/json_node.h"
#include "text/tokenizer_parts.h"

namespace blockzoo {

using JsonVocabulary = std::unordered_map<std::string, int64_t>;

/// Errors: std::runtime_error for a model of another type, which is refused before all else that comes with it.
void require_known_model(const JsonNode& model);

/// Reads a model of type BPE or Unigram into `model` and `pieces`. `bytes`: its tokens are GPT-2's letters for bytes,
/// and words come as the bytes themselves.
JsonVocabulary read_model(const JsonNode& model, bool bytes, TokenizerParts& parts);

}  // namespace blockzoo
