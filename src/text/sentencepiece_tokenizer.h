#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blockzoo/text/tokenizer.h"
#include "text/added_tokens.h"
#include "text/pool.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_settings.h"
#include "text/word_cache.h"

namespace blockzoo {

/// The tokenizer of a SentencePiece `.model` file: the library prepares, cuts and decodes text.
/// Source: Kudo and Richardson 2018, arXiv:1808.06226.
/// Differs from the source: control symbols and the unknown symbol, where they stand in the text, become their ids, as
/// in transformers, and decode to themselves; bytes that are not UTF-8 become the pieces of these bytes, or the unknown
/// id, and bytes are decoded as they are, where the library has U+FFFD.
class SentencePieceTokenizer final : public Tokenizer {
 public:
  /// Which id ends a text, of the pieces by id.
  using EndOfText = std::function<std::optional<int64_t>(const std::vector<std::string>&)>;

  /// Errors: std::runtime_error with what is wrong with the file's bytes or not supported.
  SentencePieceTokenizer(const std::string& bytes, const EndOfText& end_of_text);

  std::string decode(std::span<const int64_t> ids) const override;
  int64_t vocabulary() const override { return static_cast<int64_t>(pieces_.size()); }
  std::optional<int64_t> end_of_text() const override { return end_of_text_; }
  std::string piece(int64_t id) const override { return pieces_[index(id)]; }
  int64_t text_bytes(int64_t id) const override;
  size_t last_cut(std::string_view text) const override;
  uint64_t hash() const override { return hash_; }

 private:
  std::vector<int64_t> ids_of(std::string_view text, TextStart start) const override;
  void encode_valid(std::string_view text, TextStart start, WordCache& cache, std::vector<uint32_t>& ids) const;
  void encode_between(std::string_view text, TextStart start, WordCache& cache, std::vector<uint32_t>& ids) const;
  void encode_further(std::string_view text, WordCache& cache, std::vector<uint32_t>& ids) const;
  void encode_broken(std::string_view bytes, std::vector<uint32_t>& ids) const;
  size_t end_of_word(std::string_view text, size_t begin) const;
  void read_pieces();
  size_t index(int64_t id) const;

  using Model = std::shared_ptr<const SentencePieceModel>;

  SentencePieceSettings settings_;
  Model model_;
  Model without_prefix_;             // the same that puts no space in front of a text
  Model with_prefix_;                // or one
  std::vector<std::string> pieces_;  // by id
  std::vector<PieceKind> kinds_;
  std::vector<std::string> texts_;  // by id: the bytes that the piece stands for behind others
  std::optional<std::array<uint32_t, 256>> byte_ids_;
  uint32_t unknown_ = 0;
  AddedTokens symbols_;     // control symbols and the unknown one
  bool words_ = false;      // ids of words do not depend on the words beside them
  bool line_ends_ = false;  // nor on the line ends
  std::optional<int64_t> end_of_text_;
  uint64_t hash_;

  Pool<WordCache> caches_;
};

}  // namespace blockzoo
