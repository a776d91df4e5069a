#include "blockzoo/hub/run_lock.h"

#include <signal.h>

#include <optional>
#include <utility>

#include "hub/files.h"
#include "support/catch.h"

using Catch::Matchers::ContainsSubstring;

namespace blockzoo::test {

namespace {

/// A process that holds the lock of a folder until it is killed.
class Holder {
 public:
  explicit Holder(const std::filesystem::path& folder) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    child_ = start_child([&] {
      const RunLock lock(folder);
      if (::write(ends[1], "x", 1) != 1) ::_exit(2);
      for (;;) ::pause();
    });
    char ready = 0;
    if (::read(ends[0], &ready, 1) != 1) throw std::runtime_error("the holder did not start");
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Holder() { kill(); }

  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    wait_for(std::exchange(child_, 0));
  }
  pid_t pid() const { return child_; }

 private:
  pid_t child_ = 0;
};

}  // namespace

TEST_CASE("a second process is refused with the folder, the holder's process and its host", "[hub]") {
  const TemporaryFolder folder;
  Holder holder(folder.path());
  char host[256] = "";
  ::gethostname(host, sizeof(host));
  REQUIRE_THROWS_AS(RunLock(folder.path()), RunLocked);
  REQUIRE_THAT(error_of([&] { RunLock(folder.path()); }),
               ContainsSubstring(folder.path().string()) &&
                   ContainsSubstring("process " + std::to_string(holder.pid()) + " on " + host));

  holder.kill();
  REQUIRE_NOTHROW(RunLock(folder.path()));
}

TEST_CASE("a lock is free again when its owner lets go, and moves with it", "[hub]") {
  const TemporaryFolder folder;
  {
    RunLock lock(folder.path());
    REQUIRE_THROWS_AS(RunLock(folder.path()), RunLocked);
    const RunLock moved(std::move(lock));
    REQUIRE_THROWS_AS(RunLock(folder.path()), RunLocked);
  }
  REQUIRE_NOTHROW(RunLock(folder.path()));
  REQUIRE(read_file(folder / "lock").empty());
}

TEST_CASE("a program that the holder starts does not inherit the lock", "[hub]") {
  const TemporaryFolder folder;
  std::optional<RunLock> lock(folder.path());
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const auto child = start_child([&] {
    ::dup2(ends[1], 1);
    ::execl("/bin/sh", "sh", "-c", "echo ready; exec sleep 60", nullptr);
    ::_exit(2);
  });
  char ready = 0;
  REQUIRE(::read(ends[0], &ready, 1) == 1);
  lock.reset();
  REQUIRE_NOTHROW(RunLock(folder.path()));
  ::kill(child, SIGKILL);
  wait_for(child);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("of many processes that want a lock at once, one gets it", "[hub]") {
  const TemporaryFolder folder;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 12; ++i) {
    children.push_back(start_child([&] {
      try {
        const RunLock lock(folder.path());
        if (::write(ends[1], "got", 3) != 3) ::_exit(2);
        for (;;) ::pause();
      } catch (const RunLocked&) {
        if (::write(ends[1], "not", 3) != 3) ::_exit(2);
        ::_exit(7);
      }
    }));
  }
  std::string answers;
  char buffer[3];
  while (answers.size() < 3 * children.size() && ::read(ends[0], buffer, 3) == 3) answers.append(buffer, 3);
  for (const auto child : children) {
    ::kill(child, SIGKILL);
    wait_for(child);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  size_t owners = 0;
  for (size_t i = 0; i < answers.size(); i += 3) owners += answers.substr(i, 3) == "got";
  REQUIRE(owners == 1);
}

TEST_CASE("a folder that cannot hold a lock is refused with the system's reason", "[hub]") {
  const TemporaryFolder folder;
  REQUIRE_THAT(error_of([&] { RunLock(folder / "absent"); }),
               ContainsSubstring("absent/lock") && ContainsSubstring("No such file or directory"));
}

}  // namespace blockzoo::test
