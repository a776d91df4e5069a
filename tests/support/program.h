#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "blockzoo/hub/atomic_file.h"

namespace blockzoo {

/// The built program, run as a user would, in a folder of its own.
class Program {
 public:
  /// Starts it in `folder`; its output goes to files there. `environment` entries are "NAME=value". It may write to
  /// `memory_kib` of its own at most, or to any amount where that is 0.
  Program(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
          const std::vector<std::string>& environment = {}, int64_t memory_kib = 0)
      : folder_(folder) {
    const auto quoted = [](const std::string& word) { return "'" + word + "'"; };
    std::string command = "cd " + quoted(folder.string()) + " && ";
    if (memory_kib > 0) command += "ulimit -d " + std::to_string(memory_kib) + " && ";
    command += "exec env";
    for (const auto& entry : environment) command += " " + quoted(entry);
    command += " " + quoted(BLOCKZOO_PROGRAM);
    for (const auto& argument : arguments) command += " " + quoted(argument);
    command += " >stdout.txt 2>stderr.txt </dev/null";
    pid_ = vfork();
    if (pid_ == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
  }
  ~Program() {
    if (pid_ > 0) send(SIGKILL), wait();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const { kill(pid_, signal); }

  /// Exit code, or minus the signal that ended it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  std::string out() const { return read_file(folder_ / "stdout.txt"); }
  std::string error() const { return read_file(folder_ / "stderr.txt"); }

 private:
  std::filesystem::path folder_;
  pid_t pid_ = 0;
};

/// Waits until `condition` holds; false when it did not within a minute.
template <class Condition>
bool eventually(Condition&& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace blockzoo
