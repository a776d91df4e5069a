#include "text/sentencepiece_settings.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "text/char_map.h"
#include "text/wire_format.h"

namespace blockzoo {
namespace {

constexpr uint64_t kUnigramType = 1;
constexpr uint64_t kBpeType = 2;
constexpr uint64_t kLastType = 4;  // behind word and char
constexpr int kMostRulesOfOneText = 32;

bool is_ascii_letter_of(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Whether the rule may join an ASCII letter with a space beside it, or leave something else at a word's end.
bool joins_words(std::string_view found, std::string_view written) {
  for (size_t i = 1; i < found.size(); ++i)
    if ((found[i] == ' ' && is_ascii_letter_of(found[i - 1])) ||
        (i == 1 && found[0] == ' ' && is_ascii_letter_of(found[1])))
      return true;
  return is_ascii_letter_of(found.back()) && (written.empty() || !is_ascii_letter_of(written.back()));
}

/// Follows all rules of a table; says whether it leaves words apart.
bool separates_words(std::string_view table, const std::string& key) {
  bool apart = true;
  try {
    CharMap(table).each_rule([&](std::string_view found, std::string_view written, int rules_on_the_way) {
      if (rules_on_the_way > kMostRulesOfOneText) throw std::runtime_error("more than 32 rules begin one text");
      apart = apart && !joins_words(found, written);
    });
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(key + ".precompiled_charsmap: " + error.what());
  }
  return apart;
}

void read_trainer_settings(WireReader reader, SentencePieceSettings& settings) {
  uint64_t type = settings.bpe ? kBpeType : kUnigramType;
  for (WireField field; reader.next(field);) {
    if (field.number == 3) type = field.value;
    if (field.number == 24 && field.value != 0)
      throw std::runtime_error("trainer_spec.treat_whitespace_as_suffix is not supported");
  }
  if (type < kUnigramType || type > kLastType)
    throw std::runtime_error("trainer_spec.model_type is none that is known");
  settings.bpe = type == kBpeType;
  settings.subwords = type == kUnigramType || type == kBpeType;
}

void read_normalizer_settings(WireReader reader, SentencePieceSettings& settings) {
  std::string_view table;
  for (WireField field; reader.next(field);) {
    if (field.number == 2) table = field.content;
    if (field.number == 3) settings.dummy_prefix = field.value != 0;
    if (field.number == 4) settings.removes_spaces = field.value != 0;
    if (field.number == 5 && field.value == 0)
      throw std::runtime_error("normalizer_spec.escape_whitespaces must be on");
  }
  if (table.empty()) return;
  settings.rewrites = true;
  settings.separates_words = separates_words(table, "normalizer_spec");
}

void check_denormalizer(WireReader reader) {
  for (WireField field; reader.next(field);)
    if (field.number == 2 && !field.content.empty()) separates_words(field.content, "denormalizer_spec");
}

}  // namespace

SentencePieceSettings read_sentencepiece_settings(std::string_view bytes) {
  SentencePieceSettings settings;
  bool has_pieces = false;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    has_pieces = has_pieces || field.number == 1;
    if (field.number == 2) read_trainer_settings(WireReader(field.content), settings);
    if (field.number == 3) read_normalizer_settings(WireReader(field.content), settings);
    if (field.number == 5) check_denormalizer(WireReader(field.content));
  }
  if (!has_pieces) throw std::runtime_error("holds no pieces; it is no SentencePiece model");
  return settings;
}

std::string_view dummy_prefix_set_to(bool on) {
  using namespace std::string_view_literals;
  return on ? "\x1a\x02\x18\x01"sv : "\x1a\x02\x18\x00"sv;  // normalizer_spec, of two bytes: add_dummy_prefix
}

}  // namespace blockzoo
