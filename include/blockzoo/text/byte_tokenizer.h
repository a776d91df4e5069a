#pragma once

#include <map>
#include <string>

#include "blockzoo/text/tokenizer.h"

namespace blockzoo {

/// One id a byte.
/// Source: Xue et al. 2021, arXiv:2105.13626 (bytes as tokens).
class ByteTokenizer final : public Tokenizer {
 public:
  std::string decode(std::span<const int64_t> ids) const override;
  int64_t vocabulary() const override { return 256; }
  std::optional<int64_t> end_of_text() const override { return std::nullopt; }
  std::string piece(int64_t id) const override;
  int64_t text_bytes(int64_t id) const override;
  size_t last_cut(std::string_view text) const override { return text.size(); }
  uint64_t hash() const override;

 private:
  std::vector<int64_t> ids_of(std::string_view text, TextStart start) const override;
};

/// The files of a tokenizer of bytes, by name: transformers.AutoTokenizer turns text into its UTF-8 bytes and back, one
/// id a byte, as the corpora `stories` and `text` do. `context` is the longest text that it says the model takes.
std::map<std::string, std::string> byte_tokenizer_files(int64_t context);

}  // namespace blockzoo
