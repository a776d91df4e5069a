#include "text/line_cuts.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "text/word_patterns.h"

namespace blockzoo {
namespace {

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// No alternative matches a line end and a letter after it.
constexpr std::array<std::string_view, 3> kWordsEndAtLines = {kGpt2Pattern, kLlama3Pattern, kQwen2Pattern};
constexpr std::array<std::string_view, 2> kDigits = {R"(\p{N})", R"(\p{N}{1,3})"};

bool is_one_of(std::span<const std::string_view> list, std::string_view expression) {
  return std::find(list.begin(), list.end(), expression) != list.end();
}

}  // namespace

bool breaks_after_lines(const std::vector<NormalizerStep>& normalizer,
                        const std::vector<PreTokenizerStep>& pre_tokenizer, const std::vector<AddedToken>& added) {
  const bool normal_forms = std::all_of(normalizer.begin(), normalizer.end(), [](const auto& step) {
    return std::holds_alternative<NormalFormStep>(step);  // neither a line end nor a letter joins what is before it
  });
  bool ends = false;
  const bool known = std::all_of(pre_tokenizer.begin(), pre_tokenizer.end(), [&](const auto& step) {
    const auto* split = std::get_if<SplitStep>(&step);
    if (split == nullptr || split->behavior != SplitBehavior::kIsolated) return false;
    const bool words = is_one_of(kWordsEndAtLines, split->pattern.expression());
    ends = ends || words;
    return words || is_one_of(kDigits, split->pattern.expression());
  });
  const bool harmless = std::none_of(added.begin(), added.end(), [](const auto& token) {
    return is_ascii_letter(token.content[0]) || token.content.find('\n') != std::string::npos;
  });
  return normal_forms && known && ends && harmless;
}

size_t last_line_cut(std::string_view text) {
  for (size_t end = text.size(); end > 1; --end)
    if (text[end - 2] == '\n' && is_ascii_letter(text[end - 1])) return end - 1;
  return 0;
}

}  // namespace blockzoo
