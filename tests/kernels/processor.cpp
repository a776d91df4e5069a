// What the processor says of itself, against what the system read.
#include "kernels/processor.h"

#include <fstream>
#include <string>

#include "support/catch.h"

namespace blockzoo {
namespace {

/// The value of the first line of /proc/cpuinfo that begins with `key`; empty where there is none.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) == 0) return line.substr(line.find(": ") + 2);
  }
  return "";
}

}  // namespace

TEST_CASE("A processor is AMD's, has AVX-512, and is one of its wide ones, where the system says so",
          "[kernels][fast]") {
  const bool amd = cpuinfo("vendor_id") == "AuthenticAMD";
  CHECK(processor_is_amd() == amd);
  CHECK(processor_is_avx512_amd() == (amd && cpuinfo("flags").find(" avx512f ") != std::string::npos));
  CHECK(processor_is_wide_amd() == (amd && std::stoi(cpuinfo("cpu family")) >= 26));
}

}  // namespace blockzoo
