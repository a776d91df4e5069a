#pragma once

#include <cstddef>

namespace blockzoo {

enum class PieceKind : int { kNormal, kUnknown, kControl, kByte, kUnused };  // those of users count as normal

/// Where a call puts what it has to say. What is handed over is valid during the call alone.
struct SentencePieceAnswer {
  void* to;
  void (*text)(void* to, const char* text, size_t bytes);
  void (*ids)(void* to, const int* ids, size_t count);
  void (*error)(void* to, const char* why);
};

/// SentencePiece's library as plain C, so that the module that links it and a program that knows other versions of what
/// is inside it share no symbol. Nothing is thrown: a call that fails gives its error, and null or false. `model` may
/// be used by several threads at a time.
struct SentencePieceModule {
  void* (*open)(const char* bytes, size_t count, const SentencePieceAnswer* answer);
  void (*close)(void* model);
  int (*pieces)(const void* model);
  PieceKind (*kind)(const void* model, int id);
  bool (*piece)(const void* model, int id, const SentencePieceAnswer* answer);
  bool (*encode)(const void* model, const char* text, size_t bytes, const SentencePieceAnswer* answer);
  bool (*decode)(const void* model, const int* ids, size_t count, const SentencePieceAnswer* answer);
};

inline constexpr auto kSentencePieceModuleFile = "libblockzoo_sentencepiece.so";

/// The module's only symbol: const SentencePieceModule* blockzoo_sentencepiece().
inline constexpr auto kSentencePieceEntry = "blockzoo_sentencepiece";

}  // namespace blockzoo
