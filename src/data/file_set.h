#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/mapped_file.h"

namespace blockzoo {

/// The bytes of one file, or of all regular files below a folder in the byte order of their paths, as one sequence;
/// names that begin with a dot are left out. Memory-mapped, one file at a time; every read first makes sure that the
/// file is as it was, so that one that is truncated while training is an error with its name and not SIGBUS.
class FileSet {
 public:
  /// Errors: std::runtime_error with path and reason: missing, unreadable, no file in it, not a regular file.
  explicit FileSet(const std::string& path);
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  struct File {
    std::string path;
    int64_t first = 0;  // position of its first byte in the sequence
    int64_t size = 0;
    dev_t device = 0;
    ino_t inode = 0;
    timespec modified{};
  };

  const std::string& path() const { return path_; }
  const std::vector<File>& files() const { return files_; }
  int64_t size() const { return size_; }
  const File& file_at(int64_t position) const;

  /// Fills `out` from there. Safe from several threads.
  /// Errors: std::runtime_error when a file was truncated, changed or replaced since it was opened.
  void read(int64_t first, std::span<std::byte> out) const;

 private:
  void add(const std::string& path);
  /// The bytes of that file, which is unchanged and the one that is open now.
  std::span<const std::byte> mapped(const File& file) const;

  std::string path_;
  std::vector<File> files_;
  int64_t size_ = 0;
  mutable std::mutex mutex_;
  mutable std::optional<MappedFile> open_;
  mutable const File* open_file_ = nullptr;  // the one that open_ maps
};

/// Throws when one file (by device and inode, so links count) is in both.
void refuse_shared_files(const FileSet& train, const FileSet& validation);

}  // namespace blockzoo
