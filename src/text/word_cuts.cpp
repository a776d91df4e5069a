#include "text/word_cuts.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <span>

#include "text/character_classes.h"
#include "text/utf8.h"
#include "text/word_patterns.h"

namespace blockzoo {
namespace {

bool is_one_of(std::span<const std::string_view> list, std::string_view expression) {
  return std::find(list.begin(), list.end(), expression) != list.end();
}

/// An expression's alternatives: its parts between the | that stand in no bracket.
std::vector<std::string_view> alternatives(std::string_view expression) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int groups = 0;
  bool in_class = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '\\') {
      ++i;
    } else if (in_class || c == '[') {
      in_class = c != ']';
    } else if (c == '(' || c == ')') {
      groups += c == '(' ? 1 : -1;
    } else if (c == '|' && groups == 0) {
      parts.push_back(expression.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(expression.substr(begin));
  return parts;
}

/// No match holds a space behind a letter, or a letter behind a line end, and none looks further than that.
bool cuts_words(const SplitStep& step) {
  const auto parts = alternatives(step.pattern.expression());
  return step.behavior == SplitBehavior::kIsolated &&
         std::all_of(parts.begin(), parts.end(), [](auto part) { return is_one_of(kAlternativesOfWords, part); });
}

/// White space goes, and with it all that could reach over it.
bool removes_spaces(const SplitStep& step) {
  return step.behavior == SplitBehavior::kRemoved &&
         (step.pattern.expression() == kSpacePattern || (step.invert && step.pattern.expression() == kWordsOrNot));
}

bool splits_off_a_class(const SplitStep& step) {
  return step.behavior != SplitBehavior::kRemoved && is_one_of(kClassesWithoutSpaces, step.pattern.expression());
}

/// The text that a pattern made by Pattern::literal stands for; absent for another pattern.
std::optional<std::string> literal_of(std::string_view expression) {
  std::string text;
  for (size_t i = 0; i < expression.size(); ++i) {
    const bool escaped = expression[i] == '\\' && i + 1 < expression.size();
    if (escaped) ++i;
    const char c = expression[i];
    const bool word = is_ascii_letter(c) || (c >= '0' && c <= '9') || (c & 0x80) != 0;
    if (word == escaped && c != ' ') return std::nullopt;
    text += c;
  }
  return text;
}

/// Whether the step writes both sides of a cut at a space as it would write the whole.
struct KeepsSpaces {
  bool operator()(const ReplaceStep& step) const {
    if (step.pattern.expression() == " {2,}") return true;
    const auto text = literal_of(step.pattern.expression());
    return text && (text->find(' ') == text->npos || *text == " ");
  }
  bool operator()(const auto&) const { return true; }
};

/// `marks`: in the normalised text a space is written by its mark.
bool joins_words(const AddedToken& token, bool marks) {
  const auto& content = token.content;
  const bool only_spaces = content.find_first_not_of(' ') == content.npos;
  return (content.find(' ') != content.npos && !only_spaces) || content == " " ||
         (marks && token.normalized && content.find(kSpaceMark) != content.npos) ||
         (token.rstrip && is_ascii_letter(content.back()));
}

/// A cut at spaces where the normaliser has left none.
bool finds_nothing(const SplitStep& step, const std::vector<NormalizerStep>& normalizer) {
  const auto is_space = [](const Pattern& pattern) { return literal_of(pattern.expression()) == " "; };
  return is_space(step.pattern) && std::any_of(normalizer.begin(), normalizer.end(), [&](const NormalizerStep& one) {
           const auto* replaced = std::get_if<ReplaceStep>(&one);
           return replaced != nullptr && is_space(replaced->pattern) && replaced->content == kSpaceMark;
         });
}

bool joins_lines(const AddedToken& token) {
  const auto first = utf8proc_category(utf8_step(token.content).point);
  return token.content.find('\n') != token.content.npos || (token.lstrip && first <= UTF8PROC_CATEGORY_LO);
}

/// A letter, a digit or punctuation; below 0, what is no character, is none.
bool is_print(int32_t point) {
  const auto category = utf8proc_category(point);
  return point >= 0 && ((category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
                        (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_PO));
}

bool is_letter(int32_t point) {
  const auto category = utf8proc_category(point);
  return point >= 0 && category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

size_t last_space_cut(std::string_view text) {
  for (auto at = text.rfind(' '); at != text.npos && at > 0; at = text.rfind(' ', at - 1))
    if (at + 1 < text.size() && is_ascii_letter(text[at - 1]) && is_ascii_letter(text[at + 1])) return at;
  return 0;
}

size_t last_line_cut(std::string_view text) {
  for (auto at = text.rfind('\n'); at != text.npos && at > 0; at = text.rfind('\n', at - 1)) {
    const auto before = text.substr(0, at);
    if (at + 1 < text.size() && is_letter(utf8_step(text.substr(at + 1)).point) &&
        is_print(utf8_step(before.substr(start_of_last(before))).point))
      return at + 1;
  }
  return 0;
}

}  // namespace

WordCuts word_cuts(const TokenizerParts& parts) {
  const bool normal_forms = std::all_of(parts.normalizer.begin(), parts.normalizer.end(), [](const auto& step) {
    return std::holds_alternative<NormalFormStep>(step);  // neither letter nor space nor line end joins what is before
  });
  const auto* bpe = std::get_if<Bpe::Config>(&parts.model);
  const bool over_characters = bpe == nullptr || bpe->unit == BpeUnit::kCharacter;
  if (!std::all_of(parts.normalizer.begin(), parts.normalizer.end(),
                   [](const auto& step) { return std::visit(KeepsSpaces{}, step); }) ||
      std::any_of(parts.added.begin(), parts.added.end(),
                  [&](const AddedToken& token) { return joins_words(token, over_characters); }))
    return {};
  WordCuts cuts;
  for (const auto& step : parts.pre_tokenizer) {
    const auto* metaspace = std::get_if<MetaspaceStep>(&step);
    const auto* split = std::get_if<SplitStep>(&step);
    if (metaspace != nullptr && metaspace->cut) cuts.spaces = true;
    if (cuts.spaces) break;  // what comes after sees each piece alone
    if (split == nullptr) continue;
    if (cuts_words(*split)) {
      cuts.spaces = true;
      cuts.lines = normal_forms && std::none_of(parts.added.begin(), parts.added.end(), joins_lines);
    } else if (removes_spaces(*split)) {
      cuts.spaces = true;
    } else if (!splits_off_a_class(*split) && !finds_nothing(*split, parts.normalizer)) {
      return {};
    }
  }
  const bool words = over_characters && (bpe == nullptr || !bpe->ignore_merges);
  cuts.spaces = cuts.spaces || (words && !parts.byte_letters && pieces_end_at_marks(parts.pieces));
  return cuts;
}

size_t last_word_cut(std::string_view text, WordCuts cuts) {
  if (const auto at = cuts.spaces ? last_space_cut(text) : 0; at > 0) return at;
  return cuts.lines ? last_line_cut(text) : 0;
}

bool pieces_end_at_marks(const std::vector<std::string>& pieces) {
  return std::find(pieces.begin(), pieces.end(), kSpaceMark) != pieces.end() &&
         std::all_of(pieces.begin(), pieces.end(), [](const std::string& piece) {
           auto end = size_t{0};
           while (piece.compare(end, kSpaceMark.size(), kSpaceMark) == 0) end += kSpaceMark.size();
           return piece.find(kSpaceMark, end) == piece.npos;
         });
}

}  // namespace blockzoo
