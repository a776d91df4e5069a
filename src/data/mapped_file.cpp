#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace blockzoo {

void fail_file(const std::string& path, const std::string& reason) { throw std::runtime_error(path + ": " + reason); }

void fail_to_read(const std::string& path) { fail_file(path, std::string("cannot be read: ") + std::strerror(errno)); }

MappedFile::MappedFile(const std::string& path, size_t size)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail_to_read(path);
  if (size == 0) return;  // nothing to map
  void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (begin == MAP_FAILED) {
    const int error = errno;
    ::close(descriptor_);
    errno = error;
    fail_to_read(path);
  }
  bytes_ = {static_cast<const std::byte*>(begin), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  ::close(descriptor_);
}

struct stat MappedFile::status() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail_to_read(path_);
  return status;
}

}  // namespace blockzoo
