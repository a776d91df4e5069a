#include <fstream>

#include "blockzoo/train/session.h"
#include "support/catch.h"
#include "support/tiny_run.h"

namespace blockzoo {
namespace {

/// Resident memory of this process, MiB.
double resident_mib() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace

TEST_CASE("Memory stays flat over thousands of steps and validations", "[train][session][slow][torch]") {
  Session session(tiny_run());
  const auto work = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      session.advance();
      if (i % 10 == 0) session.evaluate();
    }
  };
  work(300);
  const double before = resident_mib();
  work(1500);
  CHECK(resident_mib() - before < 4);
}

}  // namespace blockzoo
