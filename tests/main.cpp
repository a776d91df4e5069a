#define CATCH_CONFIG_RUNNER
#include <ATen/Context.h>

#include <chrono>
#include <iostream>

#include "support/catch.h"

namespace {

/// Says every few seconds where a run is: LibTorch tests are slow, and one process holds them all.
class Progress : public Catch::TestEventListenerBase {
 public:
  using Catch::TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ > std::chrono::seconds(5)) {
      std::cout << done_ << " tests done, now: " << test.name << std::endl;
      said_ = now;
    }
  }
  void testCaseEnded(const Catch::TestCaseStats&) override { ++done_; }

 private:
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
  int done_ = 0;
};
CATCH_REGISTER_LISTENER(Progress)

}  // namespace

int main(int argc, char** argv) {
  at::globalContext().setFlushDenormal(true);
  std::vector<const char*> arguments{argv[0], "--order", "rand", "--rng-seed", "time", "--warn", "NoAssertions"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  return Catch::Session().run(static_cast<int>(arguments.size()), arguments.data());
}
