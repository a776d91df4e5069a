#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "blockzoo/core/fields.h"
#include "blockzoo/data/held_out.h"
#include "blockzoo/data/token_source.h"
#include "blockzoo/data/tokenizer_config.h"

namespace blockzoo {

/// Any file, or all regular files below a folder in the byte order of their paths, one after the other; names that
/// begin with a dot are left out. With a tokenizer from a file, its end of text follows each file, and `path` may also
/// be a token file that it made of text before (blockzoo tokenizer encode), which is mapped into memory and never
/// loaded. Where the end of the text is validation data, the cut is at the same byte for every tokenizer, or up to one
/// token later.
struct TextConfig {
  static constexpr std::string_view kind = "text";
  static constexpr std::string_view summary = "a file or folder of text, or of anything else";
  static constexpr std::string_view source = "nanoGPT's prepare.py (Karpathy 2022)";

  std::string path;
  ValidationConfig validation;
  TokenizerConfig tokenizer;

  /// 0: the tokenizer's file has to say; see vocabulary_of.
  int64_t vocabulary_size() const { return std::holds_alternative<BytesTokenizerConfig>(tokenizer) ? 256 : 0; }

  static void fields(auto& self, auto& visit) {
    visit("path", self.path, "file or folder; relative to the file that names it");
    visit("validation", self.validation, "where validation data comes from");
    visit("tokenizer", self.tokenizer, "what turns the text into tokens");
  }

  static void rules(const auto& self, auto& expect) {
    expect(!self.path.empty(), "path", "is missing; give a file or a folder");
  }
};

/// Errors: std::runtime_error with path and reason: missing, unreadable, empty, validation data that is training data,
/// a tokenizer that cannot be read, a token file that another tokenizer made.
Corpus open_corpus(const TextConfig& config);

}  // namespace blockzoo
