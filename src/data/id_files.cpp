#include "data/id_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "blockzoo/core/hash.h"
#include "data/content_hash.h"
#include "data/file_set.h"

namespace blockzoo {

namespace {

constexpr int64_t kScanned = 1 << 18;  // ids read at a time when a corpus is opened

template <class Id>
void read_ids(const FileSet& files, int64_t first, std::span<Id> out) {
  files.read(first * static_cast<int64_t>(sizeof(Id)), std::as_writable_bytes(out));
}

/// Tokens first .. first + size - 1 of the files.
template <class Id>
class IdSource final : public TokenSource {
 public:
  IdSource(std::string part, std::shared_ptr<const FileSet> files, int64_t first, int64_t size)
      : part_(std::move(part)), files_(std::move(files)), first_(first), size_(size) {}

  std::string name() const override { return part_ + " data (" + files_->path() + ")"; }
  int64_t size() const override { return size_; }

  void read(int64_t first, std::span<int64_t> out) const override {
    if (first < 0 || first + static_cast<int64_t>(out.size()) > size_)
      throw std::out_of_range(name() + " has " + std::to_string(size_) + " tokens");
    std::array<Id, 4096> ids;
    for (first += first_; !out.empty();) {
      const auto part = std::span(ids).first(std::min(ids.size(), out.size()));
      read_ids<Id>(*files_, first, part);
      std::copy(part.begin(), part.end(), out.begin());
      first += static_cast<int64_t>(part.size());
      out = out.subspan(part.size());
    }
  }

 private:
  const std::string part_;
  const std::shared_ptr<const FileSet> files_;
  const int64_t first_;
  const int64_t size_;
};

template <class Id>
[[noreturn]] void fail_id(const FileSet& files, int64_t index, int64_t id, int64_t vocabulary) {
  const int64_t position = index * static_cast<int64_t>(sizeof(Id));
  const auto& file = files.file_at(position);
  const int64_t offset = position - file.first;
  fail_file(file.path, "token " + std::to_string(offset / static_cast<int64_t>(sizeof(Id))) + " (byte " +
                           std::to_string(offset) + ") has id " + std::to_string(id) + "; a vocabulary of " +
                           std::to_string(vocabulary) + " has ids 0 to " + std::to_string(vocabulary - 1));
}

void refuse_odd_sizes(const FileSet& files, int64_t width) {
  for (const auto& file : files.files()) {
    if (file.size % width != 0)
      fail_file(file.path, "has " + std::to_string(file.size) + " bytes, which is no multiple of an id's " +
                               std::to_string(width) + "; it is cut short or holds something else");
  }
}

void refuse_numpy_header(const FileSet& files) {
  constexpr std::string_view magic = "\x93NUMPY";
  for (const auto& file : files.files()) {
    std::string start(std::min<size_t>(magic.size(), static_cast<size_t>(file.size)), '\0');
    files.read(file.first, std::as_writable_bytes(std::span(start)));
    if (start == magic) fail_file(file.path, "is a NumPy .npy file; write the bare ids with array.tofile(path)");
  }
}

/// One pass over everything: the hash, the range of the ids, and the sign of a wrong width.
template <class Id>
uint64_t check_ids(const FileSet& files, int64_t vocabulary) {
  ContentHash hash;
  const int64_t size = files.size() / static_cast<int64_t>(sizeof(Id));
  std::vector<Id> ids(static_cast<size_t>(std::min(size, kScanned)));
  Id even_bits = 0;
  Id odd_bits = 0;
  for (int64_t first = 0; first < size; first += kScanned) {
    const auto chunk = std::span(ids).first(static_cast<size_t>(std::min(kScanned, size - first)));
    read_ids<Id>(files, first, chunk);
    hash.update(std::as_bytes(chunk));
    if constexpr (sizeof(Id) == 1) continue;
    Id highest = 0;
    for (const Id id : chunk) highest = std::max(highest, id);
    if (static_cast<int64_t>(highest) >= vocabulary) {
      const auto bad = std::find_if(chunk.begin(), chunk.end(), [&](Id id) { return int64_t{id} >= vocabulary; });
      fail_id<Id>(files, first + (bad - chunk.begin()), *bad, vocabulary);
    }
    for (size_t i = 0; i + 1 < chunk.size(); i += 2) {
      even_bits |= chunk[i];
      odd_bits |= chunk[i + 1];
    }
  }
  if (sizeof(Id) == 2 && size >= 16 && odd_bits == 0 && even_bits != 0)
    fail_file(files.path(),
              "has id 0 at every second place, as uint32 ids do when they are read as uint16; "
              "set dtype: uint32");
  return hash.digest();
}

template <class Id>
std::shared_ptr<FileSet> open_files(const std::string& path) {
  auto files = std::make_shared<FileSet>(path);
  if (files->size() == 0) fail_file(path, "is empty");
  if constexpr (sizeof(Id) > 1) {
    refuse_odd_sizes(*files, sizeof(Id));
    refuse_numpy_header(*files);
  }
  return files;
}

}  // namespace

template <class Id>
Corpus open_id_files(const IdFiles<Id>& config) {
  constexpr auto width = static_cast<int64_t>(sizeof(Id));
  const std::shared_ptr<const FileSet> files = open_files<Id>(config.path);
  const int64_t size = files->size() / width;
  Corpus corpus;
  corpus.vocabulary = config.vocabulary;
  if (const auto* own = std::get_if<PathValidationConfig>(&config.validation)) {
    const std::shared_ptr<const FileSet> held_out = open_files<Id>(own->path);
    refuse_shared_files(*files, *held_out);
    const uint64_t hash = check_ids<Id>(*files, config.vocabulary);
    const uint64_t held_out_hash = check_ids<Id>(*held_out, config.vocabulary);
    if (hash == held_out_hash)
      fail_file(own->path, "has the same contents as the training data (" + config.path +
                               "); validation needs text that training never sees");
    corpus.train = std::make_shared<IdSource<Id>>("training", files, 0, size);
    corpus.validation = std::make_shared<IdSource<Id>>("validation", held_out, 0, held_out->size() / width);
    corpus.hash = mix(hash ^ mix(held_out_hash));
  } else {
    const double fraction = std::get<TailValidationConfig>(config.validation).fraction;
    const auto kept = std::max<int64_t>(1, static_cast<int64_t>(std::floor(fraction * static_cast<double>(size))));
    corpus.train = std::make_shared<IdSource<Id>>("training", files, 0, size - kept);
    corpus.validation = std::make_shared<IdSource<Id>>("validation", files, size - kept, kept);
    corpus.hash = mix(check_ids<Id>(*files, config.vocabulary) ^ static_cast<uint64_t>(kept));
  }
  return corpus;
}

template Corpus open_id_files(const IdFiles<uint8_t>&);
template Corpus open_id_files(const IdFiles<uint16_t>&);
template Corpus open_id_files(const IdFiles<uint32_t>&);

}  // namespace blockzoo
