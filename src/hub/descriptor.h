#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace blockzoo {

[[noreturn]] inline void throw_system(const std::string& action, const std::filesystem::path& path, int error = errno) {
  throw std::system_error(error, std::generic_category(), "cannot " + action + " " + path.string());
}

/// A file descriptor that closes itself; closed in children that run another program.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const { return value_ >= 0; }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// Writes all of it, or returns the error number.
inline int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

/// Fills `buffer` from `offset` on; returns the bytes read, fewer only at the end of the file, or -1 with errno.
inline ssize_t read_at(int descriptor, char* buffer, size_t count, uint64_t offset) {
  size_t done = 0;
  while (done < count) {
    const auto got = ::pread(descriptor, buffer + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

/// fsync; 0 or the error number. What cannot be synced (pipes, some folders on network drives) counts as synced.
inline int sync_descriptor(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINTR) continue;
    return errno == EINVAL || errno == ENOTSUP ? 0 : errno;
  }
  return 0;
}

}  // namespace blockzoo
