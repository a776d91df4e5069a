#include "data/encoded_text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "blockzoo/core/hash.h"
#include "blockzoo/data/token_file.h"
#include "blockzoo/text/encode_files.h"
#include "blockzoo/text/tokenizer.h"
#include "data/content_hash.h"
#include "data/file_set.h"

namespace blockzoo {
namespace {

constexpr int64_t kIdsAtOnce = 1 << 16;

using Ids = std::vector<uint32_t>;

/// The ids of one text, in memory or in a token file, and a hash of the text.
class EncodedText {
 public:
  EncodedText(const std::string& path, std::shared_ptr<const Tokenizer> tokenizer)
      : files_(std::make_shared<FileSet>(path)), tokenizer_(std::move(tokenizer)) {
    if (files_->size() == 0) fail_file(path, "is empty");
    header_ = read_token_file_header(files_->files()[0].path);
    if (header_) {
      check_token_file();
    } else {
      encode();
    }
    each_id([&](std::span<const int64_t> ids) {
      for (const auto id : ids) bytes_ += tokenizer_->text_bytes(id);
    });
    hash_text();
  }

  const FileSet& files() const { return *files_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  int64_t size() const {
    return header_ ? (files_->size() - TokenFileHeader::bytes) / header_->width : static_cast<int64_t>(ids_.size());
  }
  uint64_t hash() const { return hash_; }
  uint64_t text_hash() const { return text_hash_; }
  int64_t text_size() const { return text_size_; }  // bytes that text_hash is of

  void read(int64_t first, std::span<int64_t> out) const {
    if (!header_) {
      std::copy_n(ids_.begin() + first, out.size(), out.begin());
    } else if (header_->width == 2) {
      read_file_ids<uint16_t>(first, out);
    } else {
      read_file_ids<uint32_t>(first, out);
    }
  }

  /// The first tokens: those that begin before the last `share` of the text's bytes, at least one less than all.
  int64_t tokens_before(double share) const {
    const auto wanted =
        bytes_ - std::max<int64_t>(1, static_cast<int64_t>(std::floor(share * static_cast<double>(bytes_))));
    int64_t bytes = 0;
    int64_t tokens = 0;
    each_id([&](std::span<const int64_t> ids) {
      for (const auto id : ids) {
        if (bytes >= wanted) return;
        bytes += tokenizer_->text_bytes(id);
        ++tokens;
      }
    });
    return std::min(tokens, size() - 1);
  }

 private:
  template <class Id>
  void read_file_ids(int64_t first, std::span<int64_t> out) const {
    std::vector<Id> ids(out.size());
    files_->read(TokenFileHeader::bytes + first * static_cast<int64_t>(sizeof(Id)),
                 std::as_writable_bytes(std::span(ids)));
    std::copy(ids.begin(), ids.end(), out.begin());
  }

  void each_id(const std::function<void(std::span<const int64_t>)>& visit) const {
    std::vector<int64_t> ids;
    for (int64_t first = 0; first < size(); first += kIdsAtOnce) {
      ids.resize(static_cast<size_t>(std::min(kIdsAtOnce, size() - first)));
      read(first, ids);
      visit(ids);
    }
  }

  void check_token_file() {
    const auto& path = files_->files()[0].path;
    if (files_->files().size() > 1)
      fail_file(path, "is a token file among others in a folder; name one token file, or a folder of text");
    require_tokenizer(*header_, path, *tokenizer_);
    if ((files_->size() - TokenFileHeader::bytes) % header_->width != 0 || size() == 0)
      fail_file(path, "has " + std::to_string(files_->size()) + " bytes, which is no header and whole ids of " +
                          std::to_string(header_->width) + "; it is cut short");
    int64_t at = 0;
    each_id([&](std::span<const int64_t> ids) {
      for (const auto id : ids) {
        if (id >= tokenizer_->vocabulary())
          fail_file(path, "token " + std::to_string(at) + " has id " + std::to_string(id) +
                              "; the tokenizer has ids 0 to " + std::to_string(tokenizer_->vocabulary() - 1));
        ++at;
      }
    });
  }

  void encode() {
    std::vector<std::filesystem::path> paths;
    for (const auto& file : files_->files()) paths.emplace_back(file.path);
    encode_files(
        *tokenizer_, paths, [&](std::span<const int64_t> ids) { ids_.insert(ids_.end(), ids.begin(), ids.end()); },
        [](double) {});
  }

  /// Of the files, or of what a token file's ids decode to; ids that are no text left out.
  void hash_text() {
    ContentHash ids_hash;
    ContentHash text;
    const auto add = [&](std::span<const char> bytes) {
      text.update(std::as_bytes(bytes));
      text_size_ += static_cast<int64_t>(bytes.size());
    };
    each_id([&](std::span<const int64_t> ids) {
      ids_hash.update(std::as_bytes(ids));
      if (!header_) return;
      std::vector<int64_t> of_text;
      std::copy_if(ids.begin(), ids.end(), std::back_inserter(of_text),
                   [&](int64_t id) { return tokenizer_->text_bytes(id) > 0; });
      add(tokenizer_->decode(of_text));
    });
    std::string buffer;
    for (int64_t at = 0; !header_ && at < files_->size(); at += static_cast<int64_t>(buffer.size())) {
      buffer.resize(static_cast<size_t>(std::min<int64_t>(files_->size() - at, 1 << 20)));
      files_->read(at, std::as_writable_bytes(std::span(buffer)));
      add(buffer);
    }
    hash_ = mix(ids_hash.digest() ^ mix(tokenizer_->hash()));
    text_hash_ = text.digest();
  }

  std::shared_ptr<FileSet> files_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::optional<TokenFileHeader> header_;  // of a token file
  Ids ids_;                                // of text
  int64_t bytes_ = 0;                      // that the ids stand for
  uint64_t hash_ = 0;
  uint64_t text_hash_ = 0;
  int64_t text_size_ = 0;
};

/// Tokens first .. first + size - 1 of the text.
class EncodedSource final : public TokenSource {
 public:
  EncodedSource(std::string part, std::shared_ptr<const EncodedText> text, int64_t first, int64_t size)
      : part_(std::move(part)), text_(std::move(text)), first_(first), size_(size) {}

  std::string name() const override { return part_ + " data (" + text_->files().path() + ")"; }
  int64_t size() const override { return size_; }

  void read(int64_t first, std::span<int64_t> out) const override {
    require_inside(first, static_cast<int64_t>(out.size()));
    text_->read(first_ + first, out);
  }

  std::optional<int64_t> text_bytes(int64_t first, int64_t count) const override {
    std::vector<int64_t> ids(static_cast<size_t>(count));
    read(first, ids);
    int64_t bytes = 0;
    for (const auto id : ids) bytes += text_->tokenizer().text_bytes(id);
    return bytes;
  }

 private:
  void require_inside(int64_t first, int64_t count) const {
    if (first < 0 || first + count > size_)
      throw std::out_of_range(name() + " has " + std::to_string(size_) + " tokens");
  }

  const std::string part_;
  const std::shared_ptr<const EncodedText> text_;
  const int64_t first_;
  const int64_t size_;
};

}  // namespace

Corpus open_encoded_text(const std::string& path, const ValidationConfig& validation, const FileTokenizerConfig& file) {
  const std::shared_ptr<const Tokenizer> tokenizer = open_tokenizer(file.path);
  const auto text = std::make_shared<const EncodedText>(path, tokenizer);
  Corpus corpus;
  corpus.vocabulary = tokenizer->vocabulary();
  corpus.tokenizer_hash = tokenizer->hash();
  if (const auto* own = std::get_if<PathValidationConfig>(&validation)) {
    const auto held_out = std::make_shared<const EncodedText>(own->path, tokenizer);
    refuse_shared_files(text->files(), held_out->files());
    if (text->text_hash() == held_out->text_hash())
      fail_file(own->path, "has the same contents as the training data (" + path +
                               "); validation needs text that training never sees");
    corpus.train = std::make_shared<EncodedSource>("training", text, 0, text->size());
    corpus.validation = std::make_shared<EncodedSource>("validation", held_out, 0, held_out->size());
    corpus.hash = mix(text->hash() ^ mix(held_out->hash()));
    corpus.text_hash = mix(text->text_hash() ^ mix(held_out->text_hash()));
  } else {
    const double share = std::get<TailValidationConfig>(validation).fraction;
    const auto trained = text->tokens_before(share);
    corpus.train = std::make_shared<EncodedSource>("training", text, 0, trained);
    corpus.validation = std::make_shared<EncodedSource>("validation", text, trained, text->size() - trained);
    corpus.hash = mix(text->hash() ^ static_cast<uint64_t>(trained));
    const auto kept =
        std::max<int64_t>(1, static_cast<int64_t>(std::floor(share * static_cast<double>(text->text_size()))));
    corpus.text_hash = mix(text->text_hash() ^ static_cast<uint64_t>(kept));
  }
  return corpus;
}

}  // namespace blockzoo
