#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "blockzoo/hub/atomic_file.h"
#include "support/temporary_folder.h"

namespace blockzoo::test {

/// Runs `body` in a child process and returns its wait status; what it throws becomes exit code 1.
template <class Body>
pid_t start_child(const Body& body) {
  const auto child = ::fork();
  if (child != 0) return child;
  try {
    body();
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

inline int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// Without the care of write_file: fast, for tests that damage many files.
inline void write_plainly(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::remove(path);  // overwriting makes ext4 flush to the disk
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Whether the file equals the stored tests/golden/hub/<same name>. BLOCKZOO_WRITE_GOLDEN=1 stores it instead; check
/// what was stored with tools/golden/safetensors_golden.py.
inline bool equals_golden(const std::filesystem::path& path) {
  const auto golden = std::filesystem::path(BLOCKZOO_SOURCE_DIR) / "tests/golden/hub" / path.filename();
  if (std::getenv("BLOCKZOO_WRITE_GOLDEN") != nullptr) write_plainly(golden, read_file(path));
  return read_file(path) == read_file(golden);
}

/// The text of the exception that `body` throws; empty when it throws none.
template <class Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace blockzoo::test
