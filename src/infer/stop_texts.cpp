#include "blockzoo/infer/stop_texts.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "text/utf8.h"

namespace blockzoo {
namespace {

/// Length of the longest end of `text` with which `stop` begins.
size_t begun(std::string_view text, std::string_view stop) {
  auto length = std::min(text.size(), stop.size() - 1);
  while (text.substr(text.size() - length) != stop.substr(0, length)) --length;
  return length;
}

}  // namespace

StopTexts::StopTexts(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const auto& stop : stops_) {
    if (stop.empty()) throw std::invalid_argument("stop must not be empty");
    if (valid_utf8(stop) != stop)
      throw std::invalid_argument("stop must be valid UTF-8: a text is not cut in a character");
  }
}

std::string StopTexts::push(std::string_view text) {
  if (found_) return "";
  held_ += text;
  auto cut = held_.size();
  size_t back = 0;
  for (const auto& stop : stops_) {
    const auto at = held_.find(stop);
    found_ |= at != std::string::npos;
    cut = std::min(cut, at);
    back = std::max(back, begun(held_, stop));
  }
  const auto out = held_.substr(0, found_ ? cut : held_.size() - back);
  held_ = found_ ? "" : held_.substr(out.size());
  return out;
}

std::string StopTexts::finish() { return std::exchange(held_, ""); }

}  // namespace blockzoo
