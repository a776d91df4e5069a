#include "text/bpe_tokenizer.h"

#include <algorithm>
#include <stdexcept>

#include "text/utf8.h"
#include "text/word_cuts.h"

namespace blockzoo {
namespace {

/// The tokens that are looked for before, or after, the text is normalised.
AddedTokens looked_for(const std::vector<AddedToken>& tokens, bool normalized) {
  std::vector<AddedToken> chosen;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(chosen),
               [&](const AddedToken& token) { return token.normalized == normalized && !token.content.empty(); });
  return AddedTokens(std::move(chosen));
}

bool only_byte_level(const std::vector<DecoderStep>& steps) {
  return steps.size() == 1 && std::holds_alternative<ByteLevelDecoding>(steps[0]);
}

}  // namespace

struct BpeTokenizer::Workspace {
  WordCache cache;
  Pieces pieces;
  std::vector<AddedTokens::Part> parts;
  std::vector<AddedTokens::Part> normalized_parts;
  std::vector<uint32_t> ids;
};

BpeTokenizer::BpeTokenizer(TokenizerParts parts, std::optional<int64_t> end_of_text)
    : normalizer_(std::move(parts.normalizer)),
      added_(looked_for(parts.added, false)),
      added_normalized_(looked_for(parts.added, true)),
      pre_tokenizer_(std::move(parts.pre_tokenizer)),
      bpe_(std::move(parts.bpe)),
      decoder_(std::move(parts.decoder)),
      before_(std::move(parts.before)),
      after_(std::move(parts.after)),
      pieces_(std::move(parts.pieces)),
      is_added_(pieces_.size()),
      text_bytes_(pieces_.size()),
      end_of_text_(end_of_text),
      hash_(parts.hash),
      cuts_at_words_(breaks_between_words(normalizer_, pre_tokenizer_, parts.added)) {
  for (const auto& token : parts.added) is_added_[static_cast<size_t>(token.id)] = true;
  if (only_byte_level(decoder_)) {
    bytes_.resize(pieces_.size());
    for (size_t id = 0; id < pieces_.size(); ++id) bytes_[id] = decode_tokens(decoder_, {{pieces_[id], is_added_[id]}});
  }
  for (size_t id = 0; id < pieces_.size(); ++id) text_bytes_[id] = count_text_bytes(static_cast<int64_t>(id));
  for (const auto& token : parts.added)
    if (token.special) text_bytes_[static_cast<size_t>(token.id)] = 0;
}

BpeTokenizer::~BpeTokenizer() = default;

std::vector<int64_t> BpeTokenizer::encode(std::string_view text) const {
  std::unique_ptr<Workspace> work;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      work = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!work) work = std::make_unique<Workspace>();
  work->ids.clear();
  each_run(
      text, [&](std::string_view run) { encode_valid(run, run.data() == text.data(), *work); },
      [&](std::string_view run) { bpe_.encode(run, work->cache, work->ids); });
  std::vector<int64_t> ids(work->ids.begin(), work->ids.end());
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(work));
  return ids;
}

void BpeTokenizer::encode_valid(std::string_view text, bool first, Workspace& work) const {
  work.parts.clear();
  added_.split(text, work.parts);
  for (const auto& part : work.parts) {
    if (part.token != nullptr) {
      work.ids.push_back(static_cast<uint32_t>(part.token->id));
      continue;
    }
    const bool at_begin = first && part.text.data() == text.data();
    if (normalizer_.empty() && added_normalized_.empty()) {
      encode_between(part.text, at_begin, work);
      continue;
    }
    const auto normalized = normalize(normalizer_, part.text);
    work.normalized_parts.clear();
    added_normalized_.split(normalized, work.normalized_parts);
    for (const auto& inner : work.normalized_parts) {
      if (inner.token != nullptr) {
        work.ids.push_back(static_cast<uint32_t>(inner.token->id));
      } else {
        encode_between(inner.text, at_begin && inner.text.data() == normalized.data(), work);
      }
    }
  }
}

void BpeTokenizer::encode_between(std::string_view text, bool first, Workspace& work) const {
  work.pieces.list.assign(1, {text, first});
  for (const auto& step : pre_tokenizer_) pre_tokenize(step, work.pieces);
  for (const auto& piece : work.pieces.list) bpe_.encode(piece.text, work.cache, work.ids);
  work.pieces.owned.clear();
}

size_t BpeTokenizer::index(int64_t id) const {
  if (id < 0 || id >= vocabulary())
    throw std::out_of_range("the tokenizer has ids 0 to " + std::to_string(vocabulary() - 1) + " and not " +
                            std::to_string(id));
  return static_cast<size_t>(id);
}

std::string BpeTokenizer::decode(std::span<const int64_t> ids) const {
  if (bytes_.empty()) return decode_all(ids);
  std::string text;
  for (const auto id : ids) text += bytes_[index(id)];
  return text;
}

std::string BpeTokenizer::decode_all(std::span<const int64_t> ids) const {
  std::vector<DecodedToken> tokens;
  for (const auto id : ids) {
    const auto at = index(id);
    if (decoder_.empty() && !tokens.empty()) tokens.push_back({" ", true});  // as `tokenizers` without a decoder
    if (!pieces_[at].empty()) tokens.push_back({pieces_[at], is_added_[at]});
  }
  return decode_tokens(decoder_, std::move(tokens));
}

/// Of a token that is not the first: there the encoder's own space would be taken off.
int64_t BpeTokenizer::count_text_bytes(int64_t id) const {
  if (!bytes_.empty()) return static_cast<int64_t>(bytes_[static_cast<size_t>(id)].size());
  const auto once = decode_all(std::vector{id});
  return static_cast<int64_t>(decode_all(std::vector{id, id}).size() - once.size());
}

std::vector<int64_t> BpeTokenizer::framed(std::vector<int64_t> ids) const {
  ids.insert(ids.begin(), before_.begin(), before_.end());
  ids.insert(ids.end(), after_.begin(), after_.end());
  return ids;
}

std::string BpeTokenizer::piece(int64_t id) const { return pieces_[index(id)]; }

int64_t BpeTokenizer::text_bytes(int64_t id) const { return text_bytes_[index(id)]; }

size_t BpeTokenizer::last_cut(std::string_view text) const { return cuts_at_words_ ? last_word_cut(text) : 0; }

}  // namespace blockzoo
