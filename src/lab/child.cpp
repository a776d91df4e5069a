#include "lab/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

namespace blockzoo {

pid_t start_child(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (output < 0) throw std::system_error(errno, std::generic_category(), log.string());
  std::vector<char*> raw;
  for (const auto& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {  // only async-signal-safe calls from here to exec
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0);  // Ctrl-C reaches the parent alone, which passes it on
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (getppid() == parent) execv(raw[0], raw.data());
    _exit(127);
  }
  const int error = errno;
  close(output);
  if (pid < 0) throw std::system_error(error, std::generic_category(), "fork");
  return pid;
}

ChildEnd next_end(int wait_ms) {
  constexpr auto nap = std::chrono::milliseconds(20);
  for (auto left = std::chrono::milliseconds(wait_ms);; left -= nap) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      ChildEnd end{.pid = pid};
      if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
      if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
      return end;
    }
    if (left <= std::chrono::milliseconds(0)) return {};
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace blockzoo
