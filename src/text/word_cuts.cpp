#include "text/word_cuts.h"

#include <algorithm>
#include <array>
#include <span>

#include "text/word_patterns.h"

namespace blockzoo {
namespace {

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A space belongs to the letters after it, and letters end at a space.
constexpr std::array<std::string_view, 4> kSpaceBeginsWords = {kGpt2Pattern, kLlama3Pattern, kQwen2Pattern,
                                                               kGpt4oPattern};
constexpr std::array<std::string_view, 2> kDigits = {R"(\p{N})", R"(\p{N}{1,3})"};

bool is_one_of(std::span<const std::string_view> list, std::string_view expression) {
  return std::find(list.begin(), list.end(), expression) != list.end();
}

bool joins_words(const AddedToken& token) {
  const auto& content = token.content;
  const bool only_spaces = content.find_first_not_of(' ') == content.npos;
  return (content.find(' ') != content.npos && !only_spaces) || content == " " ||
         (token.rstrip && is_ascii_letter(content.back()));
}

}  // namespace

bool breaks_between_words(const std::vector<NormalizerStep>& normalizer,
                          const std::vector<PreTokenizerStep>& pre_tokenizer, const std::vector<AddedToken>& added) {
  const bool normal_forms = std::all_of(normalizer.begin(), normalizer.end(), [](const auto& step) {
    return std::holds_alternative<NormalFormStep>(step);  // neither letter nor space joins what is before it
  });
  bool words = false;
  const bool known = std::all_of(pre_tokenizer.begin(), pre_tokenizer.end(), [&](const auto& step) {
    const auto* split = std::get_if<SplitStep>(&step);
    if (split == nullptr || split->behavior != SplitBehavior::kIsolated) return false;
    const bool of_words = is_one_of(kSpaceBeginsWords, split->pattern.expression());
    words = words || of_words;
    return of_words || is_one_of(kDigits, split->pattern.expression());
  });
  return normal_forms && known && words && std::none_of(added.begin(), added.end(), joins_words);
}

size_t last_word_cut(std::string_view text) {
  for (auto at = text.rfind(' '); at != text.npos && at > 0; at = text.rfind(' ', at - 1))
    if (at + 1 < text.size() && is_ascii_letter(text[at - 1]) && is_ascii_letter(text[at + 1])) return at;
  return 0;
}

}  // namespace blockzoo
