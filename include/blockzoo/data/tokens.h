#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "blockzoo/core/fields.h"
#include "blockzoo/core/names.h"
#include "blockzoo/data/held_out.h"
#include "blockzoo/data/token_source.h"

namespace blockzoo {

enum class TokenType { kUint16, kUint32 };

constexpr auto names(TokenType) {
  using enum TokenType;
  return std::to_array<std::pair<TokenType, std::string_view>>({{kUint16, "uint16"}, {kUint32, "uint32"}});
}

/// Token ids made elsewhere: raw little-endian integers and nothing else, as numpy's tofile and nanoGPT's prepare.py
/// write them; a folder of such files is read in path order. Files are read in place and never loaded. Every id is
/// checked against the vocabulary when the corpus is opened.
struct TokensConfig {
  static constexpr std::string_view kind = "tokens";
  static constexpr std::string_view summary = "files of token ids, such as nanoGPT's train.bin and val.bin";
  static constexpr std::string_view source = "nanoGPT (Karpathy 2022)";

  std::string path;
  ValidationConfig validation;
  TokenType dtype = TokenType::kUint16;
  int64_t vocabulary = 50257;
  std::optional<double> bytes_per_token;

  int64_t vocabulary_size() const { return vocabulary; }

  static void fields(auto& self, auto& visit) {
    visit("path", self.path, "file or folder; relative to the file that names it");
    visit("validation", self.validation, "where validation data comes from");
    visit("dtype", self.dtype, "how an id is stored");
    visit("vocabulary", self.vocabulary, positive, "ids run from 0 to this, excluded");
    visit("bytes_per_token", self.bytes_per_token, positive,
          "mean bytes of text a token stands for; auto means not known, and no bits per byte are reported");
  }

  static void rules(const auto& self, auto& expect) {
    expect(!self.path.empty(), "path", "is missing; give a file or a folder");
    expect(self.dtype != TokenType::kUint16 || self.vocabulary <= 65536, "dtype",
           "uint16 holds ids up to 65535, and a vocabulary of " + std::to_string(self.vocabulary) +
               " has larger ones; use uint32");
    expect(self.vocabulary <= 4294967296, "vocabulary", "ids are stored in at most 32 bits; at most 4294967296");
  }
};

/// Errors: std::runtime_error with path and reason: as for text, and a size that is no multiple of an id's, the first
/// id outside the vocabulary with its place, a NumPy .npy header, uint32 ids read as uint16.
Corpus open_corpus(const TokensConfig& config);

}  // namespace blockzoo
