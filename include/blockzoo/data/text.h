#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "blockzoo/core/fields.h"
#include "blockzoo/data/held_out.h"
#include "blockzoo/data/token_source.h"

namespace blockzoo {

/// Any file, or all regular files below a folder in the byte order of their paths, one after the other; names that
/// begin with a dot are left out. Every byte is a token, so text needs no particular encoding.
/// Source: Xue et al. 2021, arXiv:2105.13626 (bytes as tokens).
struct TextConfig {
  static constexpr std::string_view kind = "text";
  static constexpr std::string_view summary = "a file or folder of text, or of anything else, one token a byte";
  static constexpr std::string_view source = "Xue et al. 2021, arXiv:2105.13626";

  std::string path;
  ValidationConfig validation;

  int64_t vocabulary_size() const { return 256; }

  static void fields(auto& self, auto& visit) {
    visit("path", self.path, "file or folder; relative to the file that names it");
    visit("validation", self.validation, "where validation data comes from");
  }

  static void rules(const auto& self, auto& expect) {
    expect(!self.path.empty(), "path", "is missing; give a file or a folder");
  }
};

/// Errors: std::runtime_error with path and reason: missing, unreadable, empty, validation data that is training data.
Corpus open_corpus(const TextConfig& config);

}  // namespace blockzoo
