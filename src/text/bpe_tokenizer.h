#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "blockzoo/text/tokenizer.h"
#include "text/tokenizer_parts.h"

namespace blockzoo {

/// The tokenizer that a tokenizer.json describes. Text is cut at bytes that are not UTF-8; what is between is encoded
/// as `tokenizers` would encode it alone, and each such row of bytes is a word of its own.
class BpeTokenizer final : public Tokenizer {
 public:
  BpeTokenizer(TokenizerParts parts, std::optional<int64_t> end_of_text);
  ~BpeTokenizer() override;

  std::vector<int64_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int64_t> ids) const override;
  int64_t vocabulary() const override { return static_cast<int64_t>(pieces_.size()); }
  std::optional<int64_t> end_of_text() const override { return end_of_text_; }
  std::vector<int64_t> framed(std::vector<int64_t> ids) const override;
  std::string piece(int64_t id) const override;
  int64_t text_bytes(int64_t id) const override;
  size_t last_cut(std::string_view text) const override;
  uint64_t hash() const override { return hash_; }

 private:
  struct Workspace;

  void encode_valid(std::string_view text, bool first, Workspace& work) const;
  void encode_between(std::string_view text, bool first, Workspace& work) const;
  std::string decode_all(std::span<const int64_t> ids) const;
  size_t index(int64_t id) const;
  int64_t count_text_bytes(int64_t id) const;

  std::vector<NormalizerStep> normalizer_;
  AddedTokens added_;             // looked for in the text itself
  AddedTokens added_normalized_;  // looked for in the normalised text
  std::vector<PreTokenizerStep> pre_tokenizer_;
  Bpe bpe_;
  std::vector<DecoderStep> decoder_;
  std::vector<int64_t> before_;
  std::vector<int64_t> after_;
  std::vector<std::string> pieces_;  // by id
  std::vector<std::string> bytes_;   // by id, when each token alone decodes to what it decodes to anywhere
  std::vector<bool> is_added_;
  std::vector<int64_t> text_bytes_;
  std::optional<int64_t> end_of_text_;
  uint64_t hash_;
  bool cuts_at_words_;

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Workspace>> idle_;  // one for each call at a time
};

}  // namespace blockzoo
