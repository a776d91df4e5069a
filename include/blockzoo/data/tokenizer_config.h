#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "blockzoo/core/fields.h"

namespace blockzoo {

/// Every byte is a token, so text needs no particular encoding.
struct BytesTokenizerConfig {
  static constexpr std::string_view kind = "bytes";
  static constexpr std::string_view summary = "one token a byte";
  static constexpr std::string_view source = "Xue et al. 2021, arXiv:2105.13626";

  static void fields(auto&, auto&) {}
};

/// A tokenizer of Hugging Face's or of blockzoo tokenizer train. Which ids it gives is part of a run's identity, and
/// where it lies is not.
struct FileTokenizerConfig {
  static constexpr std::string_view kind = "file";
  static constexpr std::string_view summary = "a byte-pair encoding from a tokenizer.json or tokenizer.model file";
  static constexpr std::string_view source = "Sennrich et al. 2016, arXiv:1508.07909";

  std::string path;

  static void fields(auto& self, auto& visit) {
    visit("path", self.path, "folder of the tokenizer, or its file; relative to the file that names it");
  }

  static void rules(const auto& self, auto& expect) {
    expect(!self.path.empty(), "path", "is missing; give the folder of a tokenizer");
  }
};

/// What turns text into tokens; the first is the default.
using TokenizerConfig = std::variant<BytesTokenizerConfig, FileTokenizerConfig>;

}  // namespace blockzoo
