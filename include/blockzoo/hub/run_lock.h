#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace blockzoo {

/// Another process writes to the run folder. what() names the folder and the holder.
class RunLocked : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Holds `<run>/lock` while it lives, so that one process at a time writes to a run folder. The operating system lets
/// go when the process ends, however it ends; programs that it starts do not inherit the lock. Errors: RunLocked when
/// it is taken; std::system_error with path and reason when the folder cannot hold a lock.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& run_folder);
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace blockzoo
