#pragma once

#include <string>
#include <variant>
#include <vector>

#include "text/pattern.h"

namespace blockzoo {

/// Letters of byte-level tokenizers become bytes; a token that has others, or that was added, stays as it is.
struct ByteLevelDecoding {};

/// `<0x0A>` becomes the byte.
struct ByteFallbackDecoding {};

struct ReplaceDecoding {
  Pattern pattern;
  std::string content;
};

/// All tokens become one.
struct FuseDecoding {};

/// Up to so many times `content` is cut off each token's begin and end.
struct StripDecoding {
  std::string content;
  int64_t start = 0;
  int64_t stop = 0;
};

/// Marks become spaces; those of the first token vanish when the encoder puts one there.
struct MetaspaceDecoding {
  std::string mark;
  bool prepended = true;
};

using DecoderStep = std::variant<ByteLevelDecoding, ByteFallbackDecoding, ReplaceDecoding, FuseDecoding, StripDecoding,
                                 MetaspaceDecoding>;

/// A token on its way back to text.
struct DecodedToken {
  std::string text;
  bool added = false;
};

/// Bytes, where `tokenizers` would put U+FFFD for those that are no whole character.
std::string decode_tokens(const std::vector<DecoderStep>& steps, std::vector<DecodedToken> tokens);

/// The bytes that a byte-level token's letters stand for; false when it has another letter.
bool bytes_of_letters(std::string_view letters, std::string& bytes);

}  // namespace blockzoo
