#include "text/decoder.h"

#include <optional>

#include "text/byte_letters.h"
#include "text/byte_piece.h"
#include "text/utf8.h"

namespace blockzoo {
namespace {

using Tokens = std::vector<DecodedToken>;

void decode_step(const ByteLevelDecoding&, Tokens& tokens) {
  for (auto& token : tokens) {
    std::string bytes;
    if (!token.added && bytes_of_letters(token.text, bytes)) token.text = bytes;
  }
}

void decode_step(const ByteFallbackDecoding&, Tokens& tokens) {
  for (auto& token : tokens)
    if (const auto byte = byte_of_piece(token.text)) token.text = {static_cast<char>(*byte)};
}

void decode_step(const ReplaceDecoding& step, Tokens& tokens) {
  std::vector<Pattern::Span> spans;
  for (auto& token : tokens) {
    spans.clear();
    if (valid_prefix(token.text) == token.text.size()) step.pattern.find_all(token.text, spans);
    for (auto span = spans.rbegin(); span != spans.rend(); ++span)
      token.text.replace(span->begin, span->end - span->begin, step.content);
  }
}

void decode_step(const FuseDecoding&, Tokens& tokens) {
  DecodedToken all;
  for (const auto& token : tokens) all.text += token.text;
  tokens = {all};
}

void decode_step(const StripDecoding& step, Tokens& tokens) {
  for (auto& token : tokens) {
    for (int64_t i = 0; i < step.start && token.text.starts_with(step.content); ++i)
      token.text.erase(0, step.content.size());
    for (int64_t i = 0; i < step.stop && token.text.ends_with(step.content); ++i)
      token.text.resize(token.text.size() - step.content.size());
  }
}

void decode_step(const MetaspaceDecoding& step, Tokens& tokens) {
  for (auto& token : tokens) {
    const bool vanishes = &token == tokens.data() && step.prepended;
    for (size_t at = 0; (at = token.text.find(step.mark, at)) != token.text.npos;) {
      token.text.replace(at, step.mark.size(), vanishes ? "" : " ");
      at += vanishes ? 0 : 1;
    }
  }
}

}  // namespace

std::string decode_tokens(const std::vector<DecoderStep>& steps, std::vector<DecodedToken> tokens) {
  for (const auto& step : steps) std::visit([&](const auto& kind) { decode_step(kind, tokens); }, step);
  std::string text;
  for (const auto& token : tokens) text += token.text;
  return text;
}

bool bytes_of_letters(std::string_view letters, std::string& bytes) {
  bytes.clear();
  while (!letters.empty()) {
    const auto step = utf8_step(letters);
    const auto byte = step.point < 0 ? std::nullopt : letter_byte(static_cast<uint32_t>(step.point));
    if (!byte) return false;
    bytes += static_cast<char>(*byte);
    letters.remove_prefix(step.bytes);
  }
  return true;
}

}  // namespace blockzoo
