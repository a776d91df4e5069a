#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blockzoo/text/text_start.h"

namespace blockzoo {

/// Text to token ids and back. Safe to use from several threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Special tokens that stand in the text become their ids; nothing is put around it. Text need not be valid UTF-8.
  std::vector<int64_t> encode(std::string_view text, TextStart start = TextStart::kBegins) const {
    return ids_of(text, start);
  }

  /// The bytes that the ids stand for, special tokens included; they may begin or end inside a character. See
  /// TextStream for output that grows id by id. Errors: std::out_of_range for an id that the vocabulary lacks.
  virtual std::string decode(std::span<const int64_t> ids) const = 0;

  /// Ids run from 0 to this, excluded.
  virtual int64_t vocabulary() const = 0;

  /// The id that ends a document and a generated text; absent when the tokenizer names none.
  virtual std::optional<int64_t> end_of_text() const = 0;

  /// `ids` of a text with what the tokenizer puts around one, such as a token that begins it.
  virtual std::vector<int64_t> framed(std::vector<int64_t> ids) const { return ids; }

  /// How the vocabulary's file writes the token, such as "Ġthe" or "<0x0A>". Errors: as decode.
  virtual std::string piece(int64_t id) const = 0;

  /// Bytes of text that the id stands for; 0 for special tokens, which stand for none. Errors: as decode.
  virtual int64_t text_bytes(int64_t id) const = 0;

  /// The last place inside `text` where it may be cut, whatever follows it: both sides, the second as one that goes on,
  /// give the ids of the whole. 0 when none is known.
  virtual size_t last_cut(std::string_view text) const = 0;

  /// Of everything that decides which ids a text gets; equal on every machine.
  virtual uint64_t hash() const = 0;

 private:
  virtual std::vector<int64_t> ids_of(std::string_view text, TextStart start) const = 0;
};

/// Reads `tokenizer.json` (BPE over bytes or characters, unigram), or else `tokenizer.model` (SentencePiece), of a
/// folder, or that file itself. Errors: std::runtime_error with the file, the place in it, and what is wrong or not
/// supported.
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& path);

}  // namespace blockzoo
