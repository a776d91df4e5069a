#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockzoo {

/// How text is cut into words before merges are learnt: the pattern of a published tokenizer.
enum class WordPattern { kGpt2, kLlama3, kQwen2 };

constexpr auto names(WordPattern) {
  using enum WordPattern;
  return std::to_array<std::pair<WordPattern, std::string_view>>(
      {{kGpt2, "gpt2"}, {kLlama3, "llama3"}, {kQwen2, "qwen2"}});
}

struct TokenizerTraining {
  int64_t vocabulary = 0;            // ids of special tokens, of the 256 bytes and of merges; fewer when words run out
  std::vector<std::string> special;  // ids from 0 on; they cut the text and are not learnt from
  int64_t min_frequency = 0;         // of a pair that is merged
  WordPattern pattern = WordPattern::kGpt2;
};

/// What is being done, and how much of it is done, from 0 to 1. Called from one thread at a time.
using TokenizerProgress = std::function<void(std::string_view stage, double done)>;

/// Learns a byte-level BPE from files: again and again the most frequent pair of neighbours becomes a token; of equally
/// frequent pairs the one with the smaller ids. Merges and ids are those that Hugging Face's `tokenizers` learns from
/// the texts between special tokens. The first special token ends a document. Memory grows with the number of
/// different words, and not with the text.
/// Returns tokenizer.json and tokenizer_config.json by name, which transformers.AutoTokenizer and open_tokenizer load.
/// Source: Sennrich et al. 2016, arXiv:1508.07909; over bytes, Radford et al. 2019 (GPT-2).
/// Errors: std::runtime_error for a vocabulary below 256 and the special tokens, or a special token that is empty or
/// there twice; std::system_error for a file that cannot be read.
std::map<std::string, std::string> train_tokenizer(const TokenizerTraining& training,
                                                   const std::vector<std::filesystem::path>& files,
                                                   const TokenizerProgress& progress);

}  // namespace blockzoo
