#include "number_ranges.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace blockzoo {
namespace {

bool read_number(std::string_view text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

/// "3" or "3-5".
bool read_range(std::string_view text, int64_t& first, int64_t& last) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return read_number(text, first) && read_number(text, last);
  return read_number(text.substr(0, dash), first) && read_number(text.substr(dash + 1), last) && first <= last;
}

}  // namespace

std::vector<int64_t> numbers_in(const std::string& ranges, int64_t count, const std::string& option,
                                const std::string& what) {
  std::set<int64_t> numbers;
  if (ranges.empty()) {
    for (int64_t number = 0; number < count; ++number) numbers.insert(number);
  }
  std::istringstream parts(ranges);
  for (std::string part; std::getline(parts, part, ',');) {
    int64_t first = 0, last = 0;
    if (!read_range(part, first, last))
      throw std::runtime_error(
          fmt::format("{} '{}': '{}' is no number and no range; write it as in 0,3-5", option, ranges, part));
    if (last >= count)
      throw std::runtime_error(fmt::format("{} '{}': there is no {}; the model's {} run from 0 to {}", option, ranges,
                                           last, what, count - 1));
    for (auto number = first; number <= last; ++number) numbers.insert(number);
  }
  return {numbers.begin(), numbers.end()};
}

}  // namespace blockzoo
