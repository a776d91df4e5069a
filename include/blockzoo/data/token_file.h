#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "blockzoo/text/tokenizer.h"

namespace blockzoo {

/// The begin of a file of token ids that says whose ids they are: 64 bytes, then the ids, little-endian integers of
/// `width` bytes.
struct TokenFileHeader {
  static constexpr int64_t bytes = 64;

  int64_t width = 2;  // bytes of an id: 2 up to a vocabulary of 65536, else 4
  int64_t vocabulary = 0;
  uint64_t tokenizer = 0;  // its hash

  bool operator==(const TokenFileHeader&) const = default;
};

TokenFileHeader token_file_header(int64_t vocabulary, uint64_t tokenizer);

std::string to_bytes(const TokenFileHeader& header);

/// Absent when the file, a regular one, begins as no token file does. Errors: std::runtime_error with path and reason:
/// unreadable, of another version, cut short.
std::optional<TokenFileHeader> read_token_file_header(const std::filesystem::path& file);

/// Errors: std::runtime_error with the file when it was made by another tokenizer.
void require_tokenizer(const TokenFileHeader& header, const std::filesystem::path& file, const Tokenizer& tokenizer);

}  // namespace blockzoo
