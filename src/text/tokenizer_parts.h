#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/unigram.h"

namespace blockzoo {

/// What a tokenizer.json says.
struct TokenizerParts {
  std::vector<AddedToken> added;
  std::vector<NormalizerStep> normalizer;
  std::vector<PreTokenizerStep> pre_tokenizer;
  std::variant<Bpe::Config, Unigram::Config> model;
  bool byte_letters = false;  // the model works on GPT-2's letters for bytes
  std::vector<DecoderStep> decoder;
  std::vector<int64_t> before;  // what is put around a text
  std::vector<int64_t> after;
  std::vector<std::string> pieces;  // by id; empty: no such token
  uint64_t hash = 0;
};

/// Reads the contents of a tokenizer.json. Errors: std::runtime_error with the place in the file and what is wrong or
/// not supported.
TokenizerParts parse_tokenizer_json(const std::string& json);

}  // namespace blockzoo
