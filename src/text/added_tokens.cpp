#include "text/added_tokens.h"

#include <algorithm>

#include "text/character_classes.h"
#include "text/utf8.h"

namespace blockzoo {
namespace {

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  const auto before = text.substr(0, begin);
  const auto after = text.substr(end);
  return (before.empty() || !is_word(utf8_step(before.substr(start_of_last(before))).point)) &&
         (after.empty() || !is_word(utf8_step(after).point));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [](const auto& a, const auto& b) { return a.content.size() > b.content.size(); });
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    const char first = tokens_[i].content.at(0);
    by_byte_[static_cast<uint8_t>(first)].push_back(i);
    if (i == 0) only_byte_ = first;
    if (only_byte_ != first) only_byte_.reset();
  }
}

const AddedToken* AddedTokens::at(std::string_view text) const {
  for (const auto i : by_byte_[static_cast<uint8_t>(text[0])])
    if (text.starts_with(tokens_[i].content)) return &tokens_[i];
  return nullptr;
}

void AddedTokens::split(std::string_view text, std::vector<Part>& parts) const {
  size_t done = 0;
  for (size_t i = 0; i < text.size() && !tokens_.empty();) {
    if (only_byte_) {
      i = text.find(*only_byte_, i);
      if (i == text.npos) break;
    }
    const auto* token = at(text.substr(i));
    if (token == nullptr) {
      ++i;
      continue;
    }
    auto begin = i;
    auto end = i + token->content.size();
    i = end;
    if (token->single_word && !stands_alone(text, begin, end)) continue;
    if (token->lstrip) begin = std::max(before_spaces(text, begin), done);
    if (token->rstrip) end = after_spaces(text, end);
    if (done < begin) parts.push_back({text.substr(done, begin - done), nullptr});
    parts.push_back({text.substr(begin, end - begin), token});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), nullptr});
}

}  // namespace blockzoo
