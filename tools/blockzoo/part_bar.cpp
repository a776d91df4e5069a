#include "part_bar.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "blockzoo/train/progress.h"

namespace blockzoo {
namespace {

constexpr int kPartBarWidth = 24;
constexpr auto kPartRedraw = std::chrono::milliseconds(100);
constexpr auto kPlainAfter = std::chrono::seconds(2);  // what is done sooner needs no line

}  // namespace

PartBar::PartBar(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void PartBar::show(std::string_view what, double done) {
  if (quiet_) return;
  const auto now = std::chrono::steady_clock::now();
  if (what != what_) {
    what_ = what;
    started_ = now;
    next_plain_ = 0.1;
  }
  const auto passed = std::chrono::duration<double>(now - started_).count();
  const auto left = done > 0 ? passed * (1 - done) / done : 0;
  const auto text = fmt::format("{} {:3.0f} %  {} left", what, 100 * done, spoken_time(left));
  if (!terminal_) {
    if (done < next_plain_ || now - started_ < kPlainAfter) return;
    next_plain_ = done + 0.1;
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  if (now - last_drawn_ < kPartRedraw) return;
  last_drawn_ = now;
  const auto full = std::clamp(static_cast<int>(kPartBarWidth * done), 0, kPartBarWidth);
  std::fprintf(stderr, "\r\x1b[K[%s%s] %s", std::string(static_cast<size_t>(full), '#').c_str(),
               std::string(static_cast<size_t>(kPartBarWidth - full), '.').c_str(), text.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void PartBar::clear() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

}  // namespace blockzoo
