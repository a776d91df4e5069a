#include "text/sentencepiece_model.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "blockzoo/core/hash.h"
#include "text/byte_piece.h"
#include "text/utf8.h"
#include "text/wire_format.h"
#include "text/word_patterns.h"

namespace blockzoo {
namespace {

enum class PieceType : uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct ModelPiece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

struct SentencePieceModel {
  std::vector<ModelPiece> pieces;
  uint64_t model_type = 1;
  bool whitespace_suffix = false;
  bool byte_fallback = false;
  bool dummy_prefix = true;
  bool removes_spaces = true;
  bool escapes_spaces = true;
  std::string_view table;
};

ModelPiece read_piece(std::string_view message) {
  ModelPiece piece;
  WireReader reader(message);
  for (WireField field; reader.next(field);) {
    if (field.number == 1) piece.text = field.content;
    if (field.number == 2) piece.score = field.as_float();
    if (field.number == 3) piece.type = static_cast<PieceType>(field.value);
  }
  return piece;
}

SentencePieceModel read_message(std::string_view bytes) {
  SentencePieceModel model;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    WireReader inner(field.content);
    WireField part;
    if (field.number == 1) model.pieces.push_back(read_piece(field.content));
    if (field.number == 2)  // trainer_spec
      while (inner.next(part)) {
        if (part.number == 3) model.model_type = part.value;
        if (part.number == 24) model.whitespace_suffix = part.value != 0;
        if (part.number == 35) model.byte_fallback = part.value != 0;
      }
    if (field.number == 3)  // normalizer_spec
      while (inner.next(part)) {
        if (part.number == 2) model.table = part.content;
        if (part.number == 3) model.dummy_prefix = part.value != 0;
        if (part.number == 4) model.removes_spaces = part.value != 0;
        if (part.number == 5) model.escapes_spaces = part.value != 0;
      }
  }
  return model;
}

constexpr uint64_t kUnigramType = 1;
constexpr uint64_t kBpeType = 2;

void refuse_unsupported(const SentencePieceModel& model) {
  if (model.pieces.empty()) throw std::runtime_error("holds no pieces; it is no SentencePiece model");
  if (model.pieces.size() > size_t{1} << 24) throw std::runtime_error("holds more than 16777216 pieces");
  if (model.model_type != kUnigramType && model.model_type != kBpeType)
    throw std::runtime_error(std::string("trainer_spec.model_type: ") +
                             (model.model_type == 3   ? "word"
                              : model.model_type == 4 ? "char"
                                                      : "this") +
                             " is not supported; unigram and bpe are");
  if (model.whitespace_suffix) throw std::runtime_error("trainer_spec.treat_whitespace_as_suffix is not supported");
  if (!model.escapes_spaces) throw std::runtime_error("normalizer_spec.escape_whitespaces must be on");
}

/// Every way to put a piece together from two others; the piece with the highest score is made first.
void add_merges(const std::vector<ModelPiece>& pieces, Bpe::Config& bpe) {
  std::unordered_map<std::string_view, uint32_t> ids;
  std::vector<uint32_t> order;
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    if (pieces[id].type != PieceType::kNormal) continue;
    ids.emplace(pieces[id].text, id);
    order.push_back(id);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return pieces[a].score > pieces[b].score; });
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const std::string_view text = pieces[order[i]].text;
    if (i > 0 && pieces[order[i]].score != pieces[order[i - 1]].score) ++rank;
    for (size_t cut = utf8_step(text).bytes; cut < text.size(); cut += utf8_step(text.substr(cut)).bytes) {
      const auto left = ids.find(text.substr(0, cut));
      const auto right = ids.find(text.substr(cut));
      if (left == ids.end() || right == ids.end()) continue;
      bpe.merges.emplace_back(left->second, right->second);
      bpe.merged.push_back(order[i]);
      bpe.ranks.push_back(rank);
    }
  }
}

/// The ids of bytes; absent when the model falls back on none.
std::optional<std::array<uint32_t, 256>> byte_ids_of(const SentencePieceModel& model) {
  std::array<uint32_t, 256> ids{};
  size_t bytes = 0;
  for (uint32_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].type != PieceType::kByte) continue;
    const auto byte = byte_of_piece(model.pieces[id].text);
    if (!byte) throw std::runtime_error("piece '" + model.pieces[id].text + "' is of type BYTE and names none");
    ids[*byte] = id;
    ++bytes;
  }
  if (!model.byte_fallback) return std::nullopt;
  if (bytes != ids.size()) throw std::runtime_error("byte_fallback is on, and not every byte has a piece");
  return ids;
}

uint32_t unknown_of(const std::vector<ModelPiece>& pieces) {
  const auto found = std::find_if(pieces.begin(), pieces.end(),
                                  [](const ModelPiece& piece) { return piece.type == PieceType::kUnknown; });
  if (found == pieces.end()) throw std::runtime_error("has no piece of type UNKNOWN");
  return static_cast<uint32_t>(found - pieces.begin());
}

Bpe::Config bpe_of(const SentencePieceModel& model) {
  Bpe::Config bpe{.unit = BpeUnit::kCharacter};
  bpe.fuse_unknown = true;
  bpe.tokens.resize(model.pieces.size());
  for (uint32_t id = 0; id < model.pieces.size(); ++id) {
    const auto& piece = model.pieces[id];
    if (piece.type == PieceType::kNormal) bpe.tokens[id] = piece.text;
    if (piece.type == PieceType::kUnused)
      throw std::runtime_error("piece '" + piece.text + "' of type UNUSED is not supported in a model of type bpe");
  }
  bpe.unknown = unknown_of(model.pieces);
  bpe.bytes = byte_ids_of(model);
  add_merges(model.pieces, bpe);
  return bpe;
}

/// Pieces of users gain with their length, so that they are taken wherever they stand. Constants and float sums are
/// those of SentencePiece from version 0.2.2 on.
Unigram::Config unigram_of(const SentencePieceModel& model) {
  constexpr float unknown_penalty = 10;
  constexpr double user_gain_per_byte = 0.1;
  Unigram::Config unigram;
  unigram.float_sums = true;
  unigram.pieces.resize(model.pieces.size());
  auto lowest = std::numeric_limits<float>::max();
  for (const auto& piece : model.pieces)
    if (piece.type == PieceType::kNormal) lowest = std::min(lowest, piece.score);
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const auto& piece = model.pieces[id];
    const bool of_user = piece.type == PieceType::kUserDefined;
    if (piece.type == PieceType::kNormal || of_user) unigram.pieces[id] = piece.text;
    const auto gain = user_gain_per_byte * (static_cast<double>(piece.text.size()) - 1);
    unigram.scores.push_back(of_user ? static_cast<float>(gain) : piece.score);
  }
  unigram.unknown_score = lowest - unknown_penalty;
  unigram.unknown = unknown_of(model.pieces);
  unigram.bytes = byte_ids_of(model);
  return unigram;
}

SentencePieceStep normalizer_of(const SentencePieceModel& model) {
  SentencePieceStep step{.map = nullptr,
                         .kept = {},
                         .dummy_prefix = model.dummy_prefix,
                         .removes_spaces = model.removes_spaces,
                         .mark = std::string(kSpaceMark)};
  if (!model.table.empty()) try {
      step.map = std::make_shared<const CharMap>(model.table);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(std::string("normalizer_spec.precompiled_charsmap: ") + error.what());
    }
  for (const auto& piece : model.pieces)
    if (piece.type == PieceType::kUserDefined) step.kept.push_back(piece.text);
  return step;
}

}  // namespace

TokenizerParts parse_sentencepiece_model(const std::string& bytes) {
  const auto model = read_message(bytes);
  refuse_unsupported(model);
  const bool unigram = model.model_type == kUnigramType;
  TokenizerParts parts;
  parts.normalizer.emplace_back(normalizer_of(model));
  const std::string mark(kSpaceMark);
  parts.decoder = {ReplaceDecoding{Pattern(mark), " "}, ByteFallbackDecoding{}, FuseDecoding{}};
  if (model.dummy_prefix) parts.decoder.emplace_back(StripDecoding{" ", 1, 0});
  for (const auto& piece : model.pieces) {
    const auto id = static_cast<int64_t>(parts.pieces.size());
    const bool control = piece.type == PieceType::kControl || piece.type == PieceType::kUnknown;
    const bool of_user = piece.type == PieceType::kUserDefined;
    if (piece.text.empty()) throw std::runtime_error("piece " + std::to_string(id) + " is empty");
    // A unigram model weighs pieces of users against others; for BPE they cut the text.
    if (control || (of_user && !unigram))
      parts.added.push_back({.id = id, .content = piece.text, .normalized = !control, .special = control});
    parts.pieces.push_back(piece.text);
  }
  if (unigram) {
    parts.model = unigram_of(model);
  } else {
    parts.model = bpe_of(model);
  }
  parts.hash = hash_bytes(bytes);
  return parts;
}

}  // namespace blockzoo
