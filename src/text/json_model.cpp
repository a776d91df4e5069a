#include "text/json_model.h"

#include <algorithm>

#include "text/byte_piece.h"

namespace blockzoo {
namespace {

constexpr int64_t kHighestModelId = (1 << 24) - 1;

std::string type_of_model(const JsonNode& model) { return model.get("type").text_or("BPE"); }

JsonVocabulary read_vocabulary(const JsonNode& node, std::vector<std::string>& pieces) {
  if (!node.value().is_object()) node.fail("must be a map from tokens to ids");
  JsonVocabulary vocabulary;
  for (const auto& [token, value] : node.value().items()) {
    const auto id = JsonNode(value, "model.vocab['" + token + "']").number(kHighestModelId);
    if (token.empty()) node.fail("has an empty token");
    const auto at = static_cast<size_t>(id);
    if (pieces.size() <= at) pieces.resize(at + 1);
    if (!pieces[at].empty())
      node.fail("gives id " + std::to_string(id) + " to '" + pieces[at] + "' and to '" + token + "'");
    pieces[at] = token;
    vocabulary.emplace(token, id);
  }
  return vocabulary;
}

/// A merge is "left right", or [left, right] since tokenizers 0.20.
std::pair<std::string, std::string> read_merge(const JsonNode& node) {
  if (node.value().is_string()) {
    const auto text = node.text();
    const auto space = text.find(' ');
    if (space == text.npos || text.find(' ', space + 1) != text.npos)
      node.fail("is '" + text + "'; must be two tokens with a space between them");
    return {text.substr(0, space), text.substr(space + 1)};
  }
  if (node.size() != 2) node.fail("must be two tokens");
  return {node.at(0).text(), node.at(1).text()};
}

uint32_t id_in(const JsonVocabulary& vocabulary, const std::string& token, const JsonNode& place) {
  const auto found = vocabulary.find(token);
  if (found == vocabulary.end()) place.fail("'" + token + "' is not in the vocabulary");
  return static_cast<uint32_t>(found->second);
}

/// Of bytes that the vocabulary lacks: kNoByte.
std::array<uint32_t, 256> byte_ids(const JsonVocabulary& vocabulary) {
  std::array<uint32_t, 256> ids{};
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = vocabulary.find(byte_piece(static_cast<uint8_t>(byte)));
    ids[static_cast<size_t>(byte)] = found == vocabulary.end() ? kNoByte : static_cast<uint32_t>(found->second);
  }
  return ids;
}

void read_bpe(const JsonNode& model, bool bytes, const JsonVocabulary& vocabulary, TokenizerParts& parts) {
  model.expect_keys({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                     "byte_fallback", "ignore_merges", "vocab", "merges"});
  const auto dropout = model.get("dropout");
  if (!dropout.is_null() && dropout.value() != 0) dropout.fail("is not supported; it must be null");
  for (const auto* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!model.get(key).text_or("").empty()) model.get(key).fail("is not supported; it must be null");

  Bpe::Config bpe{.unit = bytes ? BpeUnit::kByte : BpeUnit::kCharacter};
  bpe.ignore_merges = model.get("ignore_merges").flag_or(false);
  bpe.tokens.resize(parts.pieces.size());
  for (size_t id = 0; id < parts.pieces.size(); ++id) {
    const auto& piece = parts.pieces[id];
    std::string matched;
    if (!bytes) matched = piece;
    if (!piece.empty() && (!bytes || bytes_of_letters(piece, matched))) bpe.tokens[id] = matched;
  }
  const auto unknown = model.get("unk_token");
  if (!unknown.is_null()) {
    const auto id = vocabulary.find(unknown.text());
    // A byte-level alphabet may be whole, and then nothing is unknown.
    if (id != vocabulary.end()) bpe.unknown = static_cast<uint32_t>(id->second);
  }
  bpe.fuse_unknown = model.get("fuse_unk").flag_or(false);
  if (model.get("byte_fallback").flag_or(false) && !bytes) bpe.bytes = byte_ids(vocabulary);

  const auto merges = model.get("merges");
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto place = merges.at(i);
    const auto [left, right] = read_merge(place);
    bpe.merges.emplace_back(id_in(vocabulary, left, place), id_in(vocabulary, right, place));
    bpe.merged.push_back(id_in(vocabulary, left + right, place));
  }
  parts.model = std::move(bpe);
}

/// Of a unigram model: a list of pieces and their scores, by id.
JsonVocabulary read_scored_pieces(const JsonNode& list, std::vector<std::string>& pieces, std::vector<double>& scores) {
  JsonVocabulary vocabulary;
  for (size_t id = 0; id < list.size(); ++id) {
    const auto piece = list.at(id);
    if (piece.size() != 2 || !piece.at(1).value().is_number()) piece.fail("must be a piece and its score");
    pieces.push_back(piece.at(0).text());
    scores.push_back(piece.at(1).value().get<double>());
    if (pieces.back().empty()) piece.fail("is empty");
    if (!vocabulary.emplace(pieces.back(), id).second) piece.fail("'" + pieces.back() + "' is there twice");
  }
  if (vocabulary.empty()) list.fail("is empty");
  return vocabulary;
}

JsonVocabulary read_unigram(const JsonNode& model, TokenizerParts& parts) {
  constexpr double unknown_penalty = 10;
  model.expect_keys({"type", "unk_id", "vocab", "byte_fallback"});
  Unigram::Config unigram;
  auto vocabulary = read_scored_pieces(model.get("vocab"), parts.pieces, unigram.scores);
  unigram.pieces.assign(parts.pieces.begin(), parts.pieces.end());
  unigram.unknown_score = *std::min_element(unigram.scores.begin(), unigram.scores.end()) - unknown_penalty;
  const auto unknown = model.get("unk_id");
  if (!unknown.is_null())
    unigram.unknown = static_cast<uint32_t>(unknown.number(static_cast<int64_t>(parts.pieces.size()) - 1));
  const auto fallback = model.get("byte_fallback");
  if (fallback.flag_or(false)) {
    unigram.bytes = byte_ids(vocabulary);
    const auto lacking = std::find(unigram.bytes->begin(), unigram.bytes->end(), kNoByte);
    if (lacking != unigram.bytes->end())
      fallback.fail("'" + byte_piece(static_cast<uint8_t>(lacking - unigram.bytes->begin())) +
                    "' is not in the vocabulary");
  }
  if (!unigram.unknown && !unigram.bytes) unknown.fail("is null, and byte_fallback is off; one of them must be there");
  parts.model = std::move(unigram);
  return vocabulary;
}

}  // namespace

void require_known_model(const JsonNode& model) {
  if (model.is_null()) model.fail("is missing");
  const auto type = type_of_model(model);
  if (type != "BPE" && type != "Unigram")
    model.get("type").fail("'" + type + "' is not supported; one of: BPE, Unigram");
}

JsonVocabulary read_model(const JsonNode& model, bool bytes, TokenizerParts& parts) {
  if (type_of_model(model) == "Unigram") {
    if (bytes) model.get("type").fail("'Unigram' is not supported behind the pre-tokenizer ByteLevel");
    return read_unigram(model, parts);
  }
  auto vocabulary = read_vocabulary(model.get("vocab"), parts.pieces);
  if (vocabulary.empty()) model.get("vocab").fail("is empty");
  read_bpe(model, bytes, vocabulary, parts);
  return vocabulary;
}

}  // namespace blockzoo
