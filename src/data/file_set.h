#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace blockzoo {

/// The bytes of one file, or of all regular files below a folder in the byte order of their paths, as one sequence;
/// names that begin with a dot are left out. Read by position and never mapped: a map would turn a file that is
/// truncated while training into SIGBUS, and would count every page it touched as the process's memory.
class FileSet {
 public:
  /// Errors: std::runtime_error with path and reason: missing, unreadable, no file in it, not a regular file.
  explicit FileSet(const std::string& path);
  ~FileSet();
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
  void read_from(size_t index, int64_t offset, std::span<std::byte> out) const;

  std::string path_;
  std::vector<File> files_;
  int64_t size_ = 0;
  mutable std::mutex mutex_;
  mutable size_t open_index_ = 0;
  mutable int descriptor_ = -1;  // of files_[open_index_]; -1 while none is open
};

/// Throws when one file (by device and inode, so links count) is in both.
void refuse_shared_files(const FileSet& train, const FileSet& validation);

[[noreturn]] void fail_file(const std::string& path, const std::string& reason);

}  // namespace blockzoo
