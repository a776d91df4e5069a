#include "text/sentencepiece_model.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

#include "blockzoo/core/hash.h"
#include "text/byte_piece.h"
#include "text/utf8.h"
#include "text/wire_format.h"

namespace blockzoo {
namespace {

constexpr std::string_view kSpaceMark = "\xe2\x96\x81";

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
  size_t table_bytes = 0;
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
        if (part.number == 2) model.table_bytes = part.content.size();
        if (part.number == 3) model.dummy_prefix = part.value != 0;
        if (part.number == 4) model.removes_spaces = part.value != 0;
        if (part.number == 5) model.escapes_spaces = part.value != 0;
      }
  }
  return model;
}

void refuse_unsupported(const SentencePieceModel& model) {
  constexpr std::array types = {"unigram", "bpe", "word", "char"};
  if (model.pieces.empty()) throw std::runtime_error("holds no pieces; it is no SentencePiece model");
  if (model.pieces.size() > size_t{1} << 24) throw std::runtime_error("holds more than 16777216 pieces");
  if (model.model_type != 2)
    throw std::runtime_error(std::string("trainer_spec.model_type: ") +
                             (model.model_type >= 1 && model.model_type <= 4 ? types[model.model_type - 1] : "this") +
                             " is not supported; bpe is");
  if (model.whitespace_suffix) throw std::runtime_error("trainer_spec.treat_whitespace_as_suffix is not supported");
  if (model.table_bytes > 0)
    throw std::runtime_error("normalizer_spec.precompiled_charsmap is not supported; the normaliser must be identity");
  if (model.removes_spaces) throw std::runtime_error("normalizer_spec.remove_extra_whitespaces is not supported");
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

Bpe::Config bpe_of(const SentencePieceModel& model) {
  Bpe::Config bpe{.unit = BpeUnit::kCharacter};
  bpe.fuse_unknown = true;
  bpe.tokens.resize(model.pieces.size());
  std::array<uint32_t, 256> byte_ids{};
  size_t bytes = 0;
  for (uint32_t id = 0; id < model.pieces.size(); ++id) {
    const auto& piece = model.pieces[id];
    if (piece.type == PieceType::kNormal) bpe.tokens[id] = piece.text;
    if (piece.type == PieceType::kUnknown) bpe.unknown = id;
    if (piece.type == PieceType::kUnused)
      throw std::runtime_error("piece '" + piece.text + "' of type UNUSED is not supported");
    if (piece.type != PieceType::kByte) continue;
    const auto byte = byte_of_piece(piece.text);
    if (!byte) throw std::runtime_error("piece '" + piece.text + "' is of type BYTE and names none");
    byte_ids[*byte] = id;
    ++bytes;
  }
  if (model.byte_fallback) {
    if (bytes != byte_ids.size()) throw std::runtime_error("byte_fallback is on, and not every byte has a piece");
    bpe.bytes = byte_ids;
  }
  add_merges(model.pieces, bpe);
  return bpe;
}

}  // namespace

TokenizerParts parse_sentencepiece_model(const std::string& bytes) {
  const auto model = read_message(bytes);
  refuse_unsupported(model);
  TokenizerParts parts;
  const std::string mark(kSpaceMark);
  if (model.dummy_prefix) parts.normalizer.emplace_back(PrependStep{mark});
  parts.normalizer.emplace_back(ReplaceStep{Pattern(" "), mark});
  parts.decoder = {ReplaceDecoding{Pattern(mark), " "}, ByteFallbackDecoding{}, FuseDecoding{}};
  if (model.dummy_prefix) parts.decoder.emplace_back(StripDecoding{" ", 1, 0});
  for (const auto& piece : model.pieces) {
    const auto id = static_cast<int64_t>(parts.pieces.size());
    const bool control = piece.type == PieceType::kControl || piece.type == PieceType::kUnknown;
    if (piece.text.empty()) throw std::runtime_error("piece " + std::to_string(id) + " is empty");
    if (control || piece.type == PieceType::kUserDefined)
      parts.added.push_back({.id = id, .content = piece.text, .normalized = !control, .special = control});
    parts.pieces.push_back(piece.text);
  }
  parts.bpe = bpe_of(model);
  parts.hash = hash_bytes(bytes);
  return parts;
}

}  // namespace blockzoo
