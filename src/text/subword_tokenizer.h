#pragma once

#include <memory>
#include <string>
#include <vector>

#include "blockzoo/text/tokenizer.h"
#include "text/pool.h"
#include "text/tokenizer_parts.h"
#include "text/word_cuts.h"

namespace blockzoo {

/// The tokenizer that a tokenizer.json describes. Text is cut at bytes that are not UTF-8;
/// what is between is encoded as `tokenizers` would encode it alone, and each such row of bytes is a word of its own.
class SubwordTokenizer final : public Tokenizer {
 public:
  SubwordTokenizer(TokenizerParts parts, std::optional<int64_t> end_of_text);
  ~SubwordTokenizer() override;

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

  std::vector<int64_t> ids_of(std::string_view text, TextStart start) const override;
  void encode_valid(std::string_view text, TextStart start, bool first, Workspace& work) const;
  void encode_between(const Piece& whole, Workspace& work) const;
  void encode_broken(std::string_view bytes, Workspace& work) const;
  std::string decode_all(std::span<const int64_t> ids) const;
  size_t index(int64_t id) const;
  int64_t count_text_bytes(int64_t id) const;

  WordCuts cuts_;
  std::vector<NormalizerStep> normalizer_;
  AddedTokens added_;             // looked for in the text itself
  AddedTokens added_normalized_;  // looked for in the normalised text
  std::vector<PreTokenizerStep> pre_tokenizer_;
  std::unique_ptr<const WordModel> model_;
  bool byte_letters_;
  std::vector<DecoderStep> decoder_;
  std::vector<int64_t> before_;
  std::vector<int64_t> after_;
  std::vector<std::string> pieces_;  // by id
  std::vector<std::string> bytes_;   // by id, when each token alone decodes to what it decodes to anywhere
  std::vector<bool> is_added_;
  std::vector<int64_t> text_bytes_;
  std::optional<int64_t> end_of_text_;
  uint64_t hash_;

  Pool<Workspace> workspaces_;
};

}  // namespace blockzoo
