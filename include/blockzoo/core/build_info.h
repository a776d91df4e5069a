#pragma once

#include <string>

namespace blockzoo {

/// What this program was built from and with; part of every record.
struct BuildInfo {
  std::string version;     // "0.1.0"
  std::string commit;      // twelve digits, "-dirty" when files differed from it; "unknown" outside a git checkout
  std::string compiler;    // "GNU 12.2.0"
  std::string libtorch;    // "2.13.0"
  std::string build_type;  // "Release"
};

const BuildInfo& build_info();

}  // namespace blockzoo
