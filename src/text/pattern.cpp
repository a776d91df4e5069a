#include "text/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace blockzoo {
namespace {

// Oniguruma's \s; PCRE2's has U+180E besides. A script's name is its Script here, and Script_Extensions to PCRE2.
constexpr std::string_view kSpaces = R"(\x{9}-\x{d}\x{85}\p{Z})";

/// Writes Oniguruma's expression as PCRE2's.
std::string for_pcre2(std::string_view expression) {
  std::string out;
  bool in_class = false;
  bool in_inner_class = false;  // a class inside a class adds its members
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '\\' && i + 1 < expression.size()) {
      const char next = expression[++i];
      if (next == 's') {
        out += in_class ? std::string(kSpaces) : "[" + std::string(kSpaces) + "]";
      } else if (next == 'S') {
        if (in_class) throw std::runtime_error(R"(\S inside [...] is not supported)");
        out += "[^" + std::string(kSpaces) + "]";
      } else if ((next == 'p' || next == 'P') && expression.substr(i + 1, 1) == "{") {
        const auto end = std::min(expression.find('}', i), expression.size());
        const auto name = expression.substr(i + 2, end - i - 2);
        out += {'\\', next, '{'};
        const bool script = name.size() > 2 && name[0] != '^' && name != "Alphabetic";
        out += (script ? "sc:" : "") + std::string(name);
        i = end - 1;
      } else if (next == 'h' || next == 'H' || next == 'R' || next == 'X') {
        throw std::runtime_error(std::string("\\") + next + " is not supported");
      } else {
        out += {'\\', next};
      }
      continue;
    }
    if (in_class && c == '&' && expression.substr(i, 2) == "&&")
      throw std::runtime_error("&& inside [...] is not supported");
    if (in_class && c == '[' && expression.substr(i, 2) != "[:") {
      if (in_inner_class || expression.substr(i, 2) == "[^")
        throw std::runtime_error("[ or [^ inside [...] is not supported there");
      in_inner_class = true;
      continue;
    }
    if (c == ']' && in_inner_class) {
      in_inner_class = false;
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    out += c;
  }
  return out;
}

std::string pcre2_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

/// What a match needs to write to; one for each thread.
struct MatchScratch {
  std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data{pcre2_match_data_create(1, nullptr),
                                                                           &pcre2_match_data_free};
  std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context{pcre2_match_context_create(nullptr),
                                                                                    &pcre2_match_context_free};
  std::unique_ptr<pcre2_jit_stack, decltype(&pcre2_jit_stack_free)> stack{
      pcre2_jit_stack_create(size_t{32} << 10, size_t{64} << 20, nullptr), &pcre2_jit_stack_free};

  MatchScratch() { pcre2_jit_stack_assign(context.get(), nullptr, stack.get()); }
};

}  // namespace

Pattern::Pattern(const std::string& expression) : expression_(expression) {
  const auto written = for_pcre2(expression);
  int code = 0;
  PCRE2_SIZE offset = 0;
  auto* compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(written.data()), written.size(), PCRE2_UTF | PCRE2_UCP,
                                 &code, &offset, nullptr);
  if (compiled == nullptr)
    throw std::runtime_error("the pattern does not compile: " + pcre2_message(code) + ", at byte " +
                             std::to_string(offset) + " of " + written);
  code_ = std::shared_ptr<const pcre2_real_code_8>(
      compiled, [](const pcre2_real_code_8* p) { pcre2_code_free(const_cast<pcre2_real_code_8*>(p)); });
  uint32_t matches_nothing = 0;
  pcre2_pattern_info(compiled, PCRE2_INFO_MATCHEMPTY, &matches_nothing);
  if (matches_nothing != 0) throw std::runtime_error("a pattern that can match an empty text is not supported");
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // without it pcre2_match interprets
}

Pattern Pattern::literal(std::string_view text) {
  std::string expression;
  for (const char c : text) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c & 0x80) != 0;
    if (!word) expression += '\\';
    expression += c;
  }
  return Pattern(expression);
}

void Pattern::find_all(std::string_view text, std::vector<Span>& spans) const {
  static thread_local MatchScratch scratch;
  const auto* ends = pcre2_get_ovector_pointer(scratch.data.get());
  for (size_t at = 0; at < text.size();) {
    const int found = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                  PCRE2_NO_UTF_CHECK, scratch.data.get(), scratch.context.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) throw std::runtime_error("cannot match " + expression_ + ": " + pcre2_message(found));
    spans.push_back({ends[0], ends[1]});
    at = ends[1];
  }
}

}  // namespace blockzoo
