#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace blockzoo {

/// The numbers that "0,3-5" names, in their order, each once; all of 0 .. count - 1 where `ranges` is empty. Errors:
/// std::runtime_error that begins with `option`, for what is no such list, and for numbers that are not there; it calls
/// them `what`, such as "layers".
std::vector<int64_t> numbers_in(const std::string& ranges, int64_t count, const std::string& option,
                                const std::string& what);

}  // namespace blockzoo
