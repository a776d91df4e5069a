#include "data/file_hash.h"

#include <map>
#include <mutex>
#include <tuple>

#include "data/content_hash.h"
#include "data/mapped_file.h"

namespace blockzoo {
namespace {

/// Path, size, inode and time of the last change: a file that is replaced within one tick of the clock is another
/// inode.
using FileState = std::tuple<std::string, off_t, ino_t, time_t, long>;

FileState state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_to_read(path);
  return {path, status.st_size, status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

}  // namespace

uint64_t file_hash(const std::string& path) {
  static std::mutex mutex;
  static std::map<FileState, uint64_t> known;
  const std::lock_guard lock(mutex);
  const auto state = state_of(path);
  if (const auto found = known.find(state); found != known.end()) return found->second;
  const MappedFile file(path, static_cast<size_t>(std::get<1>(state)));
  ContentHash hash;
  hash.update(file.bytes());
  return known[state] = hash.digest();
}

}  // namespace blockzoo
