#pragma once

#include <string>

#include "text/tokenizer_parts.h"

namespace blockzoo {

/// Reads the contents of a SentencePiece `.model` file of type BPE. Text gets the ids that transformers gives it
/// through its own conversion of such a file: control symbols that stand in the text become their ids. Source: Kudo and
/// Richardson 2018, arXiv:1808.06226; the fields of sentencepiece_model.proto. Differs from the source: Debian's
/// library is not used, since the protobuf inside it meets LibTorch's. Errors: std::runtime_error with what is wrong or
/// not supported: no such file, a unigram, word or character model, a normaliser with a table, whitespace that is
/// removed or a suffix, unused pieces.
TokenizerParts parse_sentencepiece_model(const std::string& bytes);

}  // namespace blockzoo
