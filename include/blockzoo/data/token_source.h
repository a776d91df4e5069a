#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace blockzoo {

/// A fixed sequence of token ids that can be read at any position. Safe to read from several threads.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  /// What error messages call it, such as "training data (/texts/train.txt)".
  virtual std::string name() const = 0;
  virtual int64_t size() const = 0;

  /// Fills `out` with tokens first, first + 1, ...
  /// Errors: std::out_of_range past the end; std::runtime_error with path and reason when a file cannot be read, or is
  /// no longer the file that was opened.
  virtual void read(int64_t first, std::span<int64_t> out) const = 0;

  /// Whether read_lookback has anything to say.
  virtual bool has_lookback() const { return false; }

  /// For tokens first, first + 1, ...: 0, or, inside a repeated name, how many tokens back its last mention begins.
  virtual void read_lookback(int64_t first, std::span<int64_t> out) const;

  /// Bytes of text that tokens first .. first + count - 1 stand for; absent where tokens are no text. Errors: as read.
  virtual std::optional<int64_t> text_bytes(int64_t first, int64_t count) const;

  /// Nats in the tokens first .. first + count - 1 of all `firsts`, which ascend: the sum of -log p(x_i | all before i)
  /// under the process that made the text, as it looks to someone who lacks its seed. A model that has not seen the
  /// text can expect no smaller sum of losses. Absent for text whose process is not known. Errors: std::out_of_range
  /// past the end.
  virtual std::optional<double> information(std::span<const int64_t> firsts, int64_t count) const;
};

/// Training and validation data that share no token, and what a model needs to know of them.
struct Corpus {
  std::shared_ptr<const TokenSource> train;
  std::shared_ptr<const TokenSource> validation;
  int64_t vocabulary = 256;                // ids run from 0 to vocabulary - 1
  std::optional<double> bytes_per_token;   // mean, where the source itself does not count them; absent when not known
  uint64_t hash = 0;                       // of the contents and of the split; equal on every machine
  std::optional<uint64_t> tokenizer_hash;  // of a tokenizer from a file
  std::optional<uint64_t> text_hash;       // of the text alone, whatever tokenizer made tokens of it
};

}  // namespace blockzoo
