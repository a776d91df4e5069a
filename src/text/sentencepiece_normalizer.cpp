#include "text/sentencepiece_normalizer.h"

#include "text/utf8.h"

namespace blockzoo {
namespace {

/// How the begin of `text` is written: as itself where it is one of the kept texts, of which the longest comes first.
CharMap::Rule first_rule(const SentencePieceStep& step, std::string_view text) {
  std::string_view kept;
  for (const auto& one : step.kept)
    if (one.size() > kept.size() && text.starts_with(one)) kept = one;
  if (!kept.empty()) return {kept.size(), text.substr(0, kept.size())};
  if (step.map)
    if (const auto rule = step.map->longest(text); rule.bytes > 0) return rule;
  const auto bytes = utf8_step(text).bytes;
  return {bytes, text.substr(0, bytes)};
}

}  // namespace

std::string sentencepiece_normal(const SentencePieceStep& step, std::string_view text, TextStart start) {
  const bool begins = start == TextStart::kBegins;
  if (step.removes_spaces && begins)
    while (!text.empty()) {
      const auto rule = first_rule(step, text);
      if (rule.text != " ") break;
      text.remove_prefix(rule.bytes);
    }
  std::string out;
  if (text.empty()) return out;
  if (step.dummy_prefix && begins) out += step.mark;
  bool after_space = step.removes_spaces && begins;
  while (!text.empty()) {
    auto [bytes, written] = first_rule(step, text);
    text.remove_prefix(bytes);
    while (after_space && written.starts_with(' ')) written.remove_prefix(1);
    for (const char c : written) {
      if (c == ' ') {
        out += step.mark;
      } else {
        out += c;
      }
    }
    if (!written.empty()) after_space = step.removes_spaces && written.ends_with(' ');
  }
  while (step.removes_spaces && out.ends_with(step.mark)) out.resize(out.size() - step.mark.size());
  return out;
}

}  // namespace blockzoo
