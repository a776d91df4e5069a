#include "text/subword_tokenizer.h"

#include <algorithm>
#include <stdexcept>

#include "text/byte_letters.h"
#include "text/utf8.h"

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

/// Where no token reaches over a space's mark, words come one by one, which the model can remember.
std::vector<PreTokenizerStep> steps_of(TokenizerParts& parts) {
  auto steps = std::move(parts.pre_tokenizer);
  const auto* bpe = std::get_if<Bpe::Config>(&parts.model);
  if (bpe != nullptr && bpe->unit == BpeUnit::kCharacter && !bpe->ignore_merges && !parts.byte_letters &&
      pieces_end_at_marks(parts.pieces))
    steps.emplace_back(SplitStep{Pattern(R"(\x{2581}+[^\x{2581}]*|[^\x{2581}]+)")});
  return steps;
}

std::unique_ptr<const WordModel> made(std::variant<Bpe::Config, Unigram::Config> model) {
  if (auto* unigram = std::get_if<Unigram::Config>(&model)) return std::make_unique<Unigram>(std::move(*unigram));
  return std::make_unique<Bpe>(std::get<Bpe::Config>(std::move(model)));
}

}  // namespace

struct SubwordTokenizer::Workspace {
  WordCache cache;
  Pieces pieces;
  std::vector<AddedTokens::Part> parts;
  std::vector<AddedTokens::Part> normalized_parts;
  std::vector<uint32_t> ids;
};

SubwordTokenizer::SubwordTokenizer(TokenizerParts parts, std::optional<int64_t> end_of_text)
    : cuts_(word_cuts(parts)),
      normalizer_(std::move(parts.normalizer)),
      added_(looked_for(parts.added, false)),
      added_normalized_(looked_for(parts.added, true)),
      pre_tokenizer_(steps_of(parts)),
      model_(made(std::move(parts.model))),
      byte_letters_(parts.byte_letters),
      decoder_(std::move(parts.decoder)),
      before_(std::move(parts.before)),
      after_(std::move(parts.after)),
      pieces_(std::move(parts.pieces)),
      is_added_(pieces_.size()),
      text_bytes_(pieces_.size()),
      end_of_text_(end_of_text),
      hash_(parts.hash) {
  for (const auto& token : parts.added) is_added_[static_cast<size_t>(token.id)] = true;
  if (only_byte_level(decoder_)) {
    bytes_.resize(pieces_.size());
    for (size_t id = 0; id < pieces_.size(); ++id) bytes_[id] = decode_tokens(decoder_, {{pieces_[id], is_added_[id]}});
  }
  for (size_t id = 0; id < pieces_.size(); ++id) text_bytes_[id] = count_text_bytes(static_cast<int64_t>(id));
  for (const auto& token : parts.added)
    if (token.special) text_bytes_[static_cast<size_t>(token.id)] = 0;
}

SubwordTokenizer::~SubwordTokenizer() = default;

std::vector<int64_t> SubwordTokenizer::ids_of(std::string_view text, TextStart start) const {
  const auto lease = workspaces_.lend();
  auto& work = *lease;
  work.ids.clear();
  each_run(
      text,
      [&](std::string_view run) {
        const bool begins = run.data() == text.data();
        encode_valid(run, begins ? start : TextStart::kGoesOn, begins && start == TextStart::kBegins, work);
      },
      [&](std::string_view run) { encode_broken(run, work); });
  return {work.ids.begin(), work.ids.end()};
}

void SubwordTokenizer::encode_broken(std::string_view bytes, Workspace& work) const {
  model_->encode(byte_letters_ ? letters_of(bytes) : std::string(bytes), work.cache, work.ids);
}

void SubwordTokenizer::encode_valid(std::string_view text, TextStart start, bool first, Workspace& work) const {
  work.parts.clear();
  added_.split(text, work.parts);
  for (const auto& part : work.parts) {
    if (part.token != nullptr) {
      work.ids.push_back(static_cast<uint32_t>(part.token->id));
      continue;
    }
    const bool at_begin = part.text.data() == text.data();
    const auto part_start = at_begin ? start : TextStart::kBegins;
    const bool goes_on = part_start == TextStart::kGoesOn;
    if (normalizer_.empty() && added_normalized_.empty()) {
      encode_between({part.text, first && at_begin, goes_on}, work);
      continue;
    }
    const auto normalized = normalize(normalizer_, part.text, part_start);
    work.normalized_parts.clear();
    added_normalized_.split(normalized, work.normalized_parts);
    for (const auto& inner : work.normalized_parts) {
      const bool begins = inner.text.data() == normalized.data();
      if (inner.token != nullptr) {
        work.ids.push_back(static_cast<uint32_t>(inner.token->id));
      } else {
        encode_between({inner.text, first && at_begin && begins, goes_on && begins}, work);
      }
    }
  }
}

void SubwordTokenizer::encode_between(const Piece& whole, Workspace& work) const {
  work.pieces.list.assign(1, whole);
  for (const auto& step : pre_tokenizer_) pre_tokenize(step, work.pieces);
  for (const auto& piece : work.pieces.list) model_->encode(piece.text, work.cache, work.ids);
  work.pieces.owned.clear();
}

size_t SubwordTokenizer::index(int64_t id) const {
  if (id < 0 || id >= vocabulary())
    throw std::out_of_range("the tokenizer has ids 0 to " + std::to_string(vocabulary() - 1) + " and not " +
                            std::to_string(id));
  return static_cast<size_t>(id);
}

std::string SubwordTokenizer::decode(std::span<const int64_t> ids) const {
  if (bytes_.empty()) return decode_all(ids);
  std::string text;
  for (const auto id : ids) text += bytes_[index(id)];
  return text;
}

std::string SubwordTokenizer::decode_all(std::span<const int64_t> ids) const {
  std::vector<DecodedToken> tokens;
  for (const auto id : ids) {
    const auto at = index(id);
    if (decoder_.empty() && !tokens.empty()) tokens.push_back({" ", true});  // as `tokenizers` without a decoder
    if (!pieces_[at].empty()) tokens.push_back({pieces_[at], is_added_[at]});
  }
  return decode_tokens(decoder_, std::move(tokens));
}

/// Of a token that is not the first: there the encoder's own space would be taken off.
int64_t SubwordTokenizer::count_text_bytes(int64_t id) const {
  if (!bytes_.empty()) return static_cast<int64_t>(bytes_[static_cast<size_t>(id)].size());
  const auto once = decode_all(std::vector{id});
  return static_cast<int64_t>(decode_all(std::vector{id, id}).size() - once.size());
}

std::vector<int64_t> SubwordTokenizer::framed(std::vector<int64_t> ids) const {
  ids.insert(ids.begin(), before_.begin(), before_.end());
  ids.insert(ids.end(), after_.begin(), after_.end());
  return ids;
}

std::string SubwordTokenizer::piece(int64_t id) const { return pieces_[index(id)]; }

int64_t SubwordTokenizer::text_bytes(int64_t id) const { return text_bytes_[index(id)]; }

size_t SubwordTokenizer::last_cut(std::string_view text) const { return last_word_cut(text, cuts_); }

}  // namespace blockzoo
