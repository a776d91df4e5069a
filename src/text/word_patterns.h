#pragma once

#include <array>
#include <string_view>

namespace blockzoo {

/// How SentencePiece writes a space: U+2581.
inline constexpr std::string_view kSpaceMark = "\xe2\x96\x81";

// Patterns of published tokenizers, as their tokenizer.json files write them.

/// Built into ByteLevel. Source: Radford et al. 2019.
inline constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Source: Grattafiori et al. 2024, arXiv:2407.21783.
inline constexpr const char* kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Source: Yang et al. 2024, arXiv:2407.10671.
inline constexpr const char* kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// What the pre-tokenizers of `tokenizers` look for. Punctuation is ASCII's as well, of which some are symbols;
/// Whitespace's are Rust's \w+|[^\w\s]+, and PCRE2's \w lacks marks.
inline constexpr const char* kDigitPattern = R"(\p{N})";
inline constexpr const char* kSpacePattern = R"(\s)";
inline constexpr const char* kPunctuationPattern = R"([\p{P}!-/:-@\[-`{-~])";
inline constexpr const char* kWordsOrNot =
    R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}\s]+)";

/// Alternatives of published patterns: GPT-2, Llama 3 (and cl100k), Qwen 2 and 3.5, o200k, Tekken, DeepSeek. A space
/// belongs to the letters after it; letters end before a space, and a line end before a letter.
inline constexpr auto kAlternativesOfWords = std::to_array<std::string_view>({
    "'s",
    "'t",
    "'re",
    "'ve",
    "'m",
    "'ll",
    "'d",
    R"( ?\p{L}+)",
    R"( ?\p{N}+)",
    R"( ?[^\s\p{L}\p{N}]+)",
    R"(\s+(?!\S))",
    R"(\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d))",
    R"([^\r\n\p{L}\p{N}]?\p{L}+)",
    R"([^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+)",
    R"(\p{N}{1,3})",
    R"(\p{N})",
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*)",
    R"( ?[^\s\p{L}\p{N}]+[\r\n/]*)",
    R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)",
    R"(\s*[\r\n]+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)",
    R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)",
    R"( ?[\p{P}\p{S}]+[\r\n]*)",
});

/// What published tokenizers split off before: characters of a class, none of them a space.
inline constexpr auto kClassesWithoutSpaces = std::to_array<std::string_view>(
    {kDigitPattern, R"(\p{N}{1,3})", kPunctuationPattern, "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"});

}  // namespace blockzoo
