#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pair_table.h"
#include "text/word_model.h"

namespace blockzoo {

/// The unigram language model of words: of all ways to cut a word into pieces, the one whose scores, log-probabilities
/// of the pieces, have the greatest sum, by Viterbi's algorithm from left to right. A character that is no piece costs
/// `unknown_score`.
/// Source: Kudo 2018, arXiv:1804.10959.
class Unigram final : public WordModel {
 public:
  struct Config {
    std::vector<std::optional<std::string>> pieces;  // by id; absent: matches nothing
    std::vector<double> scores;                      // by id
    double unknown_score = 0;
    std::optional<uint32_t> unknown;                 // for a row of characters that no piece holds
    std::optional<std::array<uint32_t, 256>> bytes;  // or these ids for their bytes
  };

  /// Errors: std::runtime_error when a character may have neither piece, nor bytes, nor an unknown id.
  explicit Unigram(Config config);
  Unigram(const Unigram&) = delete;
  Unigram& operator=(const Unigram&) = delete;

 private:
  void append(std::string_view word, std::vector<uint32_t>& ids) const override;

  Config config_;
  PairTable<uint32_t> edges_;   // from a prefix of pieces, and a byte, to the prefix that is longer by it
  std::vector<int64_t> id_of_;  // of a prefix; below 0: no piece
};

}  // namespace blockzoo
