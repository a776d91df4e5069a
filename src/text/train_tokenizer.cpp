#include "blockzoo/text/train_tokenizer.h"

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "text/added_tokens.h"
#include "text/byte_letters.h"
#include "text/decoder.h"
#include "text/learn_merges.h"
#include "text/text_blocks.h"
#include "text/tokenizer_files.h"
#include "text/utf8.h"
#include "text/word_cuts.h"
#include "text/word_table.h"

namespace blockzoo {
namespace {

namespace fs = std::filesystem;
using WordCounts = WordTable<int64_t>;

void check_training(const TokenizerTraining& training) {
  const auto& special = training.special;
  for (size_t i = 0; i < special.size(); ++i) {
    if (special[i].empty()) throw std::runtime_error("a special token is empty");
    if (std::find(special.begin(), special.begin() + static_cast<int64_t>(i), special[i]) !=
        special.begin() + static_cast<int64_t>(i))
      throw std::runtime_error("the special token '" + special[i] + "' is there twice");
  }
  const auto least = static_cast<int64_t>(256 + special.size());
  if (training.vocabulary < least || training.vocabulary > int64_t{1} << 24)
    throw std::runtime_error("a vocabulary of " + std::to_string(training.vocabulary) +
                             " is not possible; it holds 256 bytes and the special tokens, and may be from " +
                             std::to_string(least) + " to " + std::to_string(1 << 24));
}

std::vector<AddedToken> as_added(const std::vector<std::string>& special) {
  std::vector<AddedToken> tokens;
  for (const auto& content : special)
    tokens.push_back({.id = static_cast<int64_t>(tokens.size()), .content = content, .special = true});
  return tokens;
}

/// Counts the words of blocks in one thread.
class WordCounter {
 public:
  WordCounter(const std::vector<PreTokenizerStep>& steps, const AddedTokens& special)
      : steps_(&steps), special_(&special) {}

  void count(std::string_view text) {
    each_run(
        text, [&](std::string_view run) { count_valid(run); }, [&](std::string_view run) { ++words_(run).value; });
  }

  const WordCounts& words() const { return words_; }

 private:
  void count_valid(std::string_view text) {
    parts_.clear();
    special_->split(text, parts_);
    for (const auto& part : parts_) {
      if (part.token != nullptr) continue;
      pieces_.list.assign(1, {part.text, false});
      for (const auto& step : *steps_) pre_tokenize(step, pieces_);
      for (const auto& piece : pieces_.list) ++words_(piece.text).value;
    }
  }

  const std::vector<PreTokenizerStep>* steps_;
  const AddedTokens* special_;
  WordCounts words_;
  Pieces pieces_;
  std::vector<AddedTokens::Part> parts_;
};

int64_t total_bytes(const std::vector<fs::path>& files) {
  int64_t total = 0;
  for (const auto& file : files) total += static_cast<int64_t>(fs::file_size(file));
  return total;
}

WordCounts count_words(const TokenizerTraining& training, const std::vector<fs::path>& files,
                       const TokenizerProgress& progress) {
  const auto steps = word_pattern_steps(training.pattern);
  const auto added = as_added(training.special);
  const AddedTokens special(added);
  TokenizerParts parts;
  parts.pre_tokenizer = steps;
  parts.added = added;
  const auto cuts = word_cuts(parts);
  TextBlocks blocks(files, [&](std::string_view text) { return last_word_cut(text, cuts); });
  const auto total = static_cast<double>(std::max<int64_t>(1, total_bytes(files)));
  std::mutex mutex;
  std::exception_ptr failure;
  WordCounts all;
  const auto work = [&] {
    WordCounter counter(steps, special);
    TextBlocks::Block block;
    const auto next = [&] {
      const std::lock_guard lock(mutex);
      if (failure || !blocks.next(block)) return false;
      progress("counting words", static_cast<double>(blocks.bytes_read()) / total);
      return true;
    };
    try {
      while (next()) counter.count(block.text);
      const std::lock_guard lock(mutex);
      counter.words().each([&](std::string_view word, int64_t count) { all(word).value += count; });
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return all;
}

/// Special tokens, then the letters of all bytes by code point: the order of ids that `tokenizers` gives them.
std::vector<std::string> first_tokens(const std::vector<std::string>& special) {
  std::vector<std::string> letters;
  for (int byte = 0; byte < 256; ++byte) letters.emplace_back(byte_letter(static_cast<uint8_t>(byte)));
  std::sort(letters.begin(), letters.end());  // UTF-8 sorts as code points do
  auto tokens = special;
  for (const auto& letter : letters)
    if (std::find(special.begin(), special.end(), letter) == special.end()) tokens.push_back(letter);
  return tokens;
}

CountedWords as_ids(const WordCounts& counts, const std::vector<std::string>& tokens) {
  std::array<uint32_t, 256> id_of{};
  for (uint32_t id = 0; id < tokens.size(); ++id) {
    std::string bytes;
    if (bytes_of_letters(tokens[id], bytes) && bytes.size() == 1) id_of[static_cast<uint8_t>(bytes[0])] = id;
  }
  CountedWords words;
  words.begins.push_back(0);
  counts.each([&](std::string_view word, int64_t count) {
    for (const char c : word) words.ids.push_back(id_of[static_cast<uint8_t>(c)]);
    words.begins.push_back(words.ids.size());
    words.counts.push_back(count);
  });
  return words;
}

}  // namespace

std::map<std::string, std::string> train_tokenizer(const TokenizerTraining& training,
                                                   const std::vector<fs::path>& files,
                                                   const TokenizerProgress& progress) {
  check_training(training);
  auto tokens = first_tokens(training.special);
  auto words = as_ids(count_words(training, files, progress), tokens);
  const auto learnt = learn_merges(std::move(words), std::move(tokens), static_cast<size_t>(training.vocabulary),
                                   training.min_frequency, [&](double done) { progress("learning merges", done); });
  return tokenizer_files(training, learnt);
}

}  // namespace blockzoo
