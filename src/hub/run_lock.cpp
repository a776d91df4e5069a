#include "blockzoo/hub/run_lock.h"

#include <sys/file.h>
#include <sys/utsname.h>

#include <chrono>
#include <string>
#include <thread>

#include "hub/descriptor.h"

namespace blockzoo {

namespace {

std::string self() {
  struct utsname host = {};
  ::uname(&host);
  return "process " + std::to_string(::getpid()) + " on " + host.nodename;
}

/// What the holder wrote about itself. It writes just after it has locked, so an empty file is looked at again.
std::string holder(int descriptor) {
  char buffer[256];
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto got = read_at(descriptor, buffer, sizeof(buffer), 0);
    if (got > 0) {
      std::string_view text(buffer, static_cast<size_t>(got));
      return std::string(text.substr(0, text.find('\n')));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "another process";
}

/// The folder may have been removed and made again between open and flock; a lock on a removed file guards nothing.
bool is_current(int descriptor, const std::filesystem::path& path) {
  struct stat held = {}, named = {};
  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& run_folder) {
  const auto path = run_folder / "lock";
  for (;;) {
    Descriptor descriptor(path, O_RDWR | O_CREAT);
    if (!descriptor) throw_system("lock", path);
    while (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) throw_system("lock", path);
      throw RunLocked("run folder " + run_folder.string() + " is in use by " + holder(descriptor.get()) +
                      "; stop it or choose another folder");
    }
    if (!is_current(descriptor.get(), path)) continue;
    if (::ftruncate(descriptor.get(), 0) != 0) throw_system("lock", path);
    if (const int error = write_all(descriptor.get(), self() + "\n")) throw_system("lock", path, error);
    descriptor_ = descriptor.release();
    return;
  }
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  [[maybe_unused]] const int emptied = ::ftruncate(descriptor_, 0);
  ::close(descriptor_);
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace blockzoo
