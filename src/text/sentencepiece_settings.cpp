#include "text/sentencepiece_settings.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "text/char_map.h"
#include "text/character_classes.h"
#include "text/wire_format.h"

namespace blockzoo {
namespace {

// Of how many begins of a text the library has room to note that they are in a table, or pieces of users.
constexpr int kMostRules = 32;
constexpr size_t kMostUserPieces = 64;

constexpr uint64_t kUserDefined = 4;

/// Whether the rule reaches over a space beside an ASCII letter, or a word that ends in one may end otherwise.
bool reaches_over_words(std::string_view found, std::string_view written) {
  for (size_t i = 1; i < found.size(); ++i)
    if (found[i] == ' ' && is_ascii_letter(found[i - 1])) return true;
  if (found.size() > 1 && found[0] == ' ' && is_ascii_letter(found[1])) return true;
  return is_ascii_letter(found.back()) && (written.empty() || !is_ascii_letter(written.back()));
}

/// Follows all rules of a table; says whether it leaves words apart.
bool table_separates_words(std::string_view table, const std::string& where) {
  bool apart = true;
  try {
    CharMap(table).each_rule([&](std::string_view found, std::string_view written, int rules) {
      if (rules > kMostRules) throw std::runtime_error("more than 32 rules begin one text");
      apart = apart && !reaches_over_words(found, written);
    });
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(where + ".precompiled_charsmap: " + error.what());
  }
  return apart;
}

void read_trainer_settings(WireReader reader, SentencePieceSettings& settings) {
  for (WireField field; reader.next(field);) {
    if (field.number == 3) {
      if (field.value < 1 || field.value > 4) throw std::runtime_error("trainer_spec.model_type is none that is known");
      settings.type = static_cast<SentencePieceType>(field.value);
    }
    if (field.number == 24 && field.value != 0)
      throw std::runtime_error("trainer_spec.treat_whitespace_as_suffix is not supported");
  }
}

void read_normalizer_settings(WireReader reader, SentencePieceSettings& settings) {
  for (WireField field; reader.next(field);) {
    if (field.number == 2 && !field.content.empty()) {
      settings.rewrites = true;
      settings.separates_words = table_separates_words(field.content, "normalizer_spec") && settings.separates_words;
    }
    if (field.number == 3) settings.dummy_prefix = field.value != 0;
    if (field.number == 4) settings.removes_spaces = field.value != 0;
    if (field.number == 5 && field.value == 0)
      throw std::runtime_error("normalizer_spec.escape_whitespaces must be on");
  }
}

void check_denormalizer(WireReader reader) {
  for (WireField field; reader.next(field);)
    if (field.number == 2 && !field.content.empty()) table_separates_words(field.content, "denormalizer_spec");
}

/// Adds the piece's text when it is one of users.
void note_user_piece(WireReader reader, std::vector<std::string_view>& of_users) {
  std::string_view text;
  uint64_t type = 0;
  for (WireField field; reader.next(field);) {
    if (field.number == 1) text = field.content;
    if (field.number == 3) type = field.value;
  }
  if (type == kUserDefined) of_users.push_back(text);
}

void refuse_deep_prefixes(std::vector<std::string_view> of_users) {
  std::sort(of_users.begin(), of_users.end());
  std::vector<std::string_view> prefixes;  // of the piece, each of the next
  for (const auto piece : of_users) {
    while (!prefixes.empty() && !piece.starts_with(prefixes.back())) prefixes.pop_back();
    prefixes.push_back(piece);
    if (prefixes.size() > kMostUserPieces)
      throw std::runtime_error("more than 64 pieces of users begin one text, which SentencePiece does not bear");
  }
}

}  // namespace

SentencePieceSettings read_sentencepiece_settings(std::string_view bytes) {
  SentencePieceSettings settings;
  std::vector<std::string_view> of_users;
  bool has_pieces = false;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    has_pieces = has_pieces || field.number == 1;
    if (field.number == 1) note_user_piece(WireReader(field.content), of_users);
    if (field.number == 2) read_trainer_settings(WireReader(field.content), settings);
    if (field.number == 3) read_normalizer_settings(WireReader(field.content), settings);
    if (field.number == 5) check_denormalizer(WireReader(field.content));
  }
  if (!has_pieces) throw std::runtime_error("holds no pieces; it is no SentencePiece model");
  refuse_deep_prefixes(std::move(of_users));
  return settings;
}

std::string_view dummy_prefix_set_to(bool on) {
  using namespace std::string_view_literals;
  return on ? "\x1a\x02\x18\x01"sv : "\x1a\x02\x18\x00"sv;  // normalizer_spec, of two bytes: add_dummy_prefix
}

}  // namespace blockzoo
