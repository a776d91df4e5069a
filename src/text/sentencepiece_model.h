#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece_module.h"

namespace blockzoo {

/// Opens the module that links SentencePiece's library; `file` is a path, or a name that is looked for as shared
/// libraries are. Its symbols and the program's stay apart, since LibTorch may bring another protobuf than the library.
/// Errors: std::runtime_error with the system's reason.
const SentencePieceModule& open_sentencepiece_module(const char* file);

/// A SentencePiece model in the hands of the library. Safe to use from several threads.
/// Source: Kudo and Richardson 2018, arXiv:1808.06226.
class SentencePieceModel {
 public:
  /// Errors: std::runtime_error with the library's reason, or that of open_sentencepiece_module.
  explicit SentencePieceModel(std::string_view bytes);
  ~SentencePieceModel();
  SentencePieceModel(const SentencePieceModel&) = delete;
  SentencePieceModel& operator=(const SentencePieceModel&) = delete;

  int64_t pieces() const;
  std::string piece(int64_t id) const;
  PieceKind kind(int64_t id) const;

  /// Appends the ids of a text.
  void encode(std::string_view text, std::vector<uint32_t>& ids) const;

  std::string decode(std::span<const int> ids) const;

 private:
  const SentencePieceModule& module_;
  void* model_;
};

}  // namespace blockzoo
