#include "text/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

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

std::string after(const PrependStep& step, std::string text) {
  if (!text.empty()) text.insert(0, step.text);
  return text;
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

}  // namespace

std::string normalize(const std::vector<NormalizerStep>& steps, std::string_view text) {
  std::string out(text);
  for (const auto& step : steps) out = std::visit([&](const auto& kind) { return after(kind, std::move(out)); }, step);
  return out;
}

}  // namespace blockzoo
