#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/pair_table.h"
#include "text/word_model.h"

namespace blockzoo {

/// In place of the id of a byte that has no token.
inline constexpr uint32_t kNoByte = ~uint32_t{0};

/// What a word is cut into before merges.
enum class BpeUnit { kByte, kCharacter };

/// Byte-pair encoding of words: of all neighbours that have a merge, the pair whose merge was learnt first becomes one
/// token, the leftmost such pair first, until none is left.
/// Source: Sennrich et al. 2016, arXiv:1508.07909; over bytes, Radford et al. 2019 (GPT-2).
class Bpe final : public WordModel {
 public:
  struct Config {
    BpeUnit unit = BpeUnit::kByte;
    std::vector<std::optional<std::string>> tokens;     // by id: the bytes that it matches; absent: matches nothing
    std::vector<std::pair<uint32_t, uint32_t>> merges;  // in the order in which they were learnt
    std::vector<uint32_t> merged;                       // the id that each makes
    bool ignore_merges = false;                         // a word that is a token is that token
    std::optional<uint32_t> unknown;                    // for a character that the vocabulary lacks
    bool fuse_unknown = false;                          // one id for a row of such characters
    std::optional<std::array<uint32_t, 256>> bytes;     // or these ids for its bytes, where each has one
  };

  explicit Bpe(Config config);
  Bpe(const Bpe&) = delete;
  Bpe& operator=(const Bpe&) = delete;

 private:
  struct Merge {
    uint32_t rank = 0;
    uint32_t id = 0;
  };

  void append(std::string_view word, std::vector<uint32_t>& ids) const override;
  void start(std::string_view word, std::vector<uint32_t>& ids) const;
  void merge_short(std::vector<uint32_t>& ids, size_t from) const;
  void merge_long(std::vector<uint32_t>& ids, size_t from) const;

  Config config_;
  std::array<int64_t, 256> byte_ids_{};  // below 0: no such token
  std::unordered_map<std::string_view, uint32_t> ids_;
  PairTable<Merge> merges_;
};

}  // namespace blockzoo
