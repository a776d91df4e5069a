#pragma once

#include "text/decoder.h"
#include "text/json_node.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"

namespace blockzoo {

std::vector<NormalizerStep> read_normalizer(const JsonNode& node);

struct PreTokenizerSteps {
  std::vector<PreTokenizerStep> steps;
  bool byte_level = false;    // the model works on bytes
  bool byte_letters = false;  // the model works on GPT-2's letters for bytes, since steps come after ByteLevel
};

PreTokenizerSteps read_pre_tokenizer(const JsonNode& node);

std::vector<DecoderStep> read_decoder(const JsonNode& node);

/// Ids around a text; `vocabulary` bounds them.
void read_post_processor(const JsonNode& node, int64_t vocabulary, std::vector<int64_t>& before,
                         std::vector<int64_t>& after);

}  // namespace blockzoo
