#include "text/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "text/character_classes.h"
#include "text/utf8.h"

namespace blockzoo {
namespace {

/// Characters before U+0300 are in NFC as they are and join with nothing before them; ASCII is in all forms.
bool is_normal(const NormalFormStep& step, std::string_view text) {
  const bool nfc = step.composed && !step.compatible;
  const auto first_other = nfc ? uint8_t{0xcc} : uint8_t{0x80};
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte < first_other;
  });
}

std::string after(const NormalFormStep& step, std::string text) {
  if (is_normal(step, text)) return text;
  int options = UTF8PROC_STABLE | (step.composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE);
  if (step.compatible) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* result = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &result, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
  if (size < 0) throw std::runtime_error(std::string("cannot normalise the text: ") + utf8proc_errmsg(size));
  return {reinterpret_cast<const char*>(result), static_cast<size_t>(size)};
}

std::string after(const ReplaceStep& step, std::string text) {
  std::vector<Pattern::Span> spans;
  step.pattern.find_all(text, spans);
  std::string out;
  out.reserve(text.size());
  size_t at = 0;
  for (const auto& span : spans) {
    out.append(text, at, span.begin - at);
    out += step.content;
    at = span.end;
  }
  return out.append(text, at);
}

/// Calls visit(character, code point) for the characters of valid UTF-8.
void each_character(std::string_view text, const auto& visit) {
  while (!text.empty()) {
    const auto step = utf8_step(text);
    visit(text.substr(0, step.bytes), step.point);
    text.remove_prefix(step.bytes);
  }
}

std::string after(const LowercaseStep&, const std::string& text) {
  std::string out;
  each_character(text, [&](std::string_view character, int32_t point) {
    const auto lower = utf8proc_tolower(point);
    if (point == 0x130) {  // the one letter whose lower case is two
      out += "i\xcc\x87";
    } else if (lower == point) {
      out += character;
    } else {
      out += utf8_of(static_cast<uint32_t>(lower));
    }
  });
  return out;
}

std::string after(const StripAccentsStep&, const std::string& text) {
  std::string out;
  each_character(text, [&](std::string_view character, int32_t point) {
    const auto category = utf8proc_category(point);
    if (category < UTF8PROC_CATEGORY_MN || category > UTF8PROC_CATEGORY_ME) out += character;
  });
  return out;
}

constexpr size_t kLongestCluster = 5;  // bytes of a grapheme cluster that is looked up whole

void rewrite_cluster(const CharMap& map, std::string_view cluster, std::string& out) {
  const auto whole = cluster.size() <= kLongestCluster ? map.shortest(cluster) : CharMap::Rule{};
  if (whole.bytes > 0) {
    out += whole.text;
    return;
  }
  each_character(cluster, [&](std::string_view character, int32_t) {
    const auto rule = map.shortest(character);
    out += rule.bytes > 0 ? rule.text : character;
  });
}

std::string after(const CharMapStep& step, const std::string& text) {
  std::string out;
  size_t begin = 0;  // of the cluster
  size_t at = 0;
  int32_t before = -1;
  utf8proc_int32_t state = 0;
  each_character(text, [&](std::string_view character, int32_t point) {
    if (before >= 0 && utf8proc_grapheme_break_stateful(before, point, &state)) {
      rewrite_cluster(*step.map, std::string_view(text).substr(begin, at - begin), out);
      begin = at;
    }
    before = point;
    at += character.size();
  });
  if (begin < at) rewrite_cluster(*step.map, std::string_view(text).substr(begin), out);
  return out;
}

std::string changed(const PrependStep& step, std::string text, TextStart start) {
  if (!text.empty() && start == TextStart::kBegins) text.insert(0, step.text);
  return text;
}

std::string changed(const StripStep& step, std::string text, TextStart start) {
  if (step.right) text.resize(before_spaces(text, text.size()));
  if (step.left && start == TextStart::kBegins) text.erase(0, after_spaces(text, 0));
  return text;
}

std::string changed(const auto& step, std::string text, TextStart) { return after(step, std::move(text)); }

}  // namespace

std::string normalize(const std::vector<NormalizerStep>& steps, std::string_view text, TextStart start) {
  std::string out(text);
  for (const auto& step : steps)
    out = std::visit([&](const auto& kind) { return changed(kind, std::move(out), start); }, step);
  return out;
}

}  // namespace blockzoo
