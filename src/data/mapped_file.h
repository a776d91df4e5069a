#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <span>
#include <string>

namespace blockzoo {

/// A file mapped into memory, read only: its pages belong to the system's cache, which takes them back when memory is
/// short. Bytes beyond the end of a file that shrank since raise SIGBUS, so ask `status` before touching them.
class MappedFile {
 public:
  /// Maps the first `size` bytes. Errors: std::runtime_error with path and reason.
  MappedFile(const std::string& path, size_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Of the file that was opened, whatever has its name now.
  struct stat status() const;

 private:
  std::string path_;
  int descriptor_;
  std::span<const std::byte> bytes_;
};

[[noreturn]] void fail_file(const std::string& path, const std::string& reason);
/// With the system's reason for the last failure.
[[noreturn]] void fail_to_read(const std::string& path);

}  // namespace blockzoo
