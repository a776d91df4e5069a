#pragma once

#include <string>

namespace blockzoo {

/// "AMD EPYC 7763 64-Core Processor, 2 cores, 7.8 GiB, Linux 6.1.0 x86_64", with the graphics processors when there are
/// any: what times of this process were measured on. Parts that the system does not tell are left out.
std::string machine();

}  // namespace blockzoo
