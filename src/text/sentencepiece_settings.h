#pragma once

#include <string_view>

namespace blockzoo {

enum class SentencePieceType { kUnigram = 1, kBpe, kWord, kCharacter };

/// What the library does not tell of a SentencePiece model.
struct SentencePieceSettings {
  SentencePieceType type = SentencePieceType::kUnigram;
  bool dummy_prefix = true;     // a space is put in front of a text
  bool removes_spaces = true;   // those at the ends of a text and beside others
  bool rewrites = false;        // text is rewritten by a table
  bool separates_words = true;  // and the table leaves a space between two ASCII letters alone
};

/// Reads them from the file's bytes, and sees to it that the library, which follows tables and counts pieces of users
/// blindly, stays inside of its memory. Source: the fields of sentencepiece_model.proto. Errors: std::runtime_error
/// with what is wrong, or not supported: white space as a suffix, spaces without their mark.
SentencePieceSettings read_sentencepiece_settings(std::string_view bytes);

/// What, put behind a model's bytes, changes whether a space is put in front of a text: a protobuf message goes on, and
/// of a field that is there twice the last counts.
std::string_view dummy_prefix_set_to(bool on);

}  // namespace blockzoo
