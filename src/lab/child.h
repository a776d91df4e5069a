#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace blockzoo {

/// Starts a program whose output goes to `log`, and which gets SIGTERM when this process dies.
/// Errors: std::system_error.
pid_t start_child(const std::vector<std::string>& arguments, const std::filesystem::path& log);

/// How a child ended.
struct ChildEnd {
  pid_t pid = 0;
  int exit_code = 0;
  int signal = 0;  // 0 unless a signal ended it
};

/// The next child to end, or pid 0 when `wait_ms` passed first.
ChildEnd next_end(int wait_ms);

}  // namespace blockzoo
