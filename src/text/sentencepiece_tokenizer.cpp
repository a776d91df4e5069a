#include "text/sentencepiece_tokenizer.h"

#include <algorithm>
#include <stdexcept>

#include "blockzoo/core/hash.h"
#include "text/byte_piece.h"
#include "text/character_classes.h"
#include "text/utf8.h"
#include "text/word_cuts.h"
#include "text/word_patterns.h"

namespace blockzoo {
namespace {

bool is_symbol(PieceKind kind) { return kind == PieceKind::kControl || kind == PieceKind::kUnknown; }

/// A piece whose text the library writes in full wherever it stands, to decode others behind it.
std::vector<int> visible_piece(const SentencePieceModel& model, const std::vector<std::string>& pieces,
                               const std::vector<PieceKind>& kinds) {
  for (size_t id = 0; id < pieces.size(); ++id)
    if (const std::vector one{static_cast<int>(id)};
        kinds[id] == PieceKind::kNormal && !pieces[id].starts_with(kSpaceMark) && !model.decode(one).empty())
      return one;
  return {};
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(const std::string& bytes, const EndOfText& end_of_text)
    : settings_(read_sentencepiece_settings(bytes)),
      model_(std::make_shared<const SentencePieceModel>(bytes)),
      without_prefix_(model_),
      with_prefix_(model_),
      hash_(hash_bytes(bytes)) {
  const auto changed = [&](bool prefix) {
    return std::make_shared<const SentencePieceModel>(bytes + std::string(dummy_prefix_set_to(prefix)));
  };
  if (settings_.dummy_prefix) without_prefix_ = changed(false);
  if (!settings_.dummy_prefix && settings_.removes_spaces) with_prefix_ = changed(true);
  read_pieces();
  end_of_text_ = end_of_text(pieces_);
}

void SentencePieceTokenizer::read_pieces() {
  std::vector<AddedToken> symbols;
  std::array<uint32_t, 256> byte_ids{};
  for (int64_t id = 0; id < model_->pieces(); ++id) {
    const auto& piece = pieces_.emplace_back(model_->piece(id));
    const auto kind = kinds_.emplace_back(model_->kind(id));
    if (piece.empty()) throw std::runtime_error("piece " + std::to_string(id) + " is empty");
    if (is_symbol(kind)) symbols.push_back({.id = id, .content = piece, .special = true});
    if (kind == PieceKind::kUnknown) unknown_ = static_cast<uint32_t>(id);
    if (const auto byte = byte_of_piece(piece); byte && kind == PieceKind::kByte) {
      byte_ids[*byte] = static_cast<uint32_t>(id);
      byte_ids_ = byte_ids;
    }
  }
  symbols_ = AddedTokens(std::move(symbols));
  const auto before = visible_piece(*model_, pieces_, kinds_);
  const auto skipped = model_->decode(before).size();
  for (size_t id = 0; id < pieces_.size(); ++id) {
    if (is_symbol(kinds_[id])) {
      texts_.push_back(pieces_[id]);
    } else if (const auto byte = byte_of_piece(pieces_[id]); byte && kinds_[id] == PieceKind::kByte) {
      texts_.emplace_back(1, static_cast<char>(*byte));
    } else {
      auto both = before;
      both.push_back(static_cast<int>(id));
      texts_.push_back(model_->decode(both).substr(skipped));
    }
  }
  const auto has = [&](const auto& what) { return std::any_of(pieces_.begin(), pieces_.end(), what); };
  const auto mark = std::find(pieces_.begin(), pieces_.end(), kSpaceMark);
  words_ = (settings_.type == SentencePieceType::kUnigram || settings_.type == SentencePieceType::kBpe) &&
           settings_.separates_words && mark != pieces_.end() &&
           kinds_[static_cast<size_t>(mark - pieces_.begin())] == PieceKind::kNormal && pieces_end_at_marks(pieces_) &&
           !has([](const std::string& piece) { return piece.find(' ') != piece.npos; });
  line_ends_ =
      words_ && byte_ids_ && !settings_.rewrites && !settings_.removes_spaces && !has([](const std::string& piece) {
        return piece.find('\n') != piece.npos && piece.find_first_not_of('\n') != piece.npos;
      });
}

std::vector<int64_t> SentencePieceTokenizer::ids_of(std::string_view text, TextStart start) const {
  const auto cache = caches_.lend();
  std::vector<uint32_t> ids;
  each_run(
      text,
      [&](std::string_view run) {
        encode_valid(run, run.data() == text.data() ? start : TextStart::kGoesOn, *cache, ids);
      },
      [&](std::string_view run) { encode_broken(run, ids); });
  return {ids.begin(), ids.end()};
}

void SentencePieceTokenizer::encode_broken(std::string_view bytes, std::vector<uint32_t>& ids) const {
  if (!byte_ids_) {
    ids.push_back(unknown_);
    return;
  }
  for (const char byte : bytes) ids.push_back((*byte_ids_)[static_cast<uint8_t>(byte)]);
}

void SentencePieceTokenizer::encode_valid(std::string_view text, TextStart start, WordCache& cache,
                                          std::vector<uint32_t>& ids) const {
  std::vector<AddedTokens::Part> parts;
  symbols_.split(text, parts);
  for (const auto& part : parts)
    if (part.token != nullptr) {
      ids.push_back(static_cast<uint32_t>(part.token->id));
    } else {
      encode_between(part.text, part.text.data() == text.data() ? start : TextStart::kBegins, cache, ids);
    }
}

void SentencePieceTokenizer::encode_between(std::string_view text, TextStart start, WordCache& cache,
                                            std::vector<uint32_t>& ids) const {
  for (size_t begin = 0; begin < text.size();) {
    const auto end = end_of_word(text, begin);
    const auto word = text.substr(begin, end - begin);
    if (begin == 0 && start == TextStart::kBegins) {
      model_->encode(word, ids);
    } else {
      encode_further(word, cache, ids);
    }
    begin = end;
  }
}

/// Text with other text before it. A space at its begin is one that is not at the begin of a text.
void SentencePieceTokenizer::encode_further(std::string_view text, WordCache& cache, std::vector<uint32_t>& ids) const {
  const auto& model = settings_.removes_spaces && after_spaces(text, 0) > 0 ? *with_prefix_ : *without_prefix_;
  cache.encode(text, ids, [&](std::vector<uint32_t>& out) { model.encode(text, out); });
}

/// Where the ids of what follows no longer depend on what was before. A unigram model's do by rounding: its sums run
/// through the whole text.
size_t SentencePieceTokenizer::end_of_word(std::string_view text, size_t begin) const {
  if (!words_ || settings_.type != SentencePieceType::kBpe) return text.size();
  if (line_ends_ && text[begin] == '\n') return std::min(text.find_first_not_of('\n', begin), text.size());
  const auto space_ends_word = [&](size_t at) {
    if (settings_.rewrites)
      return is_ascii_letter(text[at - 1]) && at + 1 < text.size() && is_ascii_letter(text[at + 1]);
    return text[at - 1] != ' ' && !text.substr(0, at).ends_with(kSpaceMark);
  };
  for (auto at = text.find_first_of(" \n", begin + 1); at != text.npos; at = text.find_first_of(" \n", at + 1))
    if (text[at] == ' ' ? space_ends_word(at) : line_ends_) return at;
  return text.size();
}

std::string SentencePieceTokenizer::decode(std::span<const int64_t> ids) const {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto id = index(ids[i]);
    const bool begins = i == 0 && (kinds_[id] == PieceKind::kNormal || kinds_[id] == PieceKind::kUnused);
    text += begins ? model_->decode(std::vector{static_cast<int>(id)}) : texts_[id];
  }
  return text;
}

int64_t SentencePieceTokenizer::text_bytes(int64_t id) const {
  const auto at = index(id);
  return is_symbol(kinds_[at]) ? 0 : static_cast<int64_t>(texts_[at].size());
}

size_t SentencePieceTokenizer::last_cut(std::string_view text) const { return last_word_cut(text, {.spaces = words_}); }

size_t SentencePieceTokenizer::index(int64_t id) const {
  if (id < 0 || id >= vocabulary())
    throw std::out_of_range("the tokenizer has ids 0 to " + std::to_string(vocabulary() - 1) + " and not " +
                            std::to_string(id));
  return static_cast<size_t>(id);
}

}  // namespace blockzoo
