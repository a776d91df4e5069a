#include "blockzoo/train/progress.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cstdio>

namespace blockzoo {
namespace {

constexpr int kBarWidth = 24;
constexpr auto kRedraw = std::chrono::milliseconds(100);

}  // namespace

std::string spoken_time(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

std::string describe(const EvalResult& result) {
  auto text = fmt::format("validation {:.4f} nats per token", result.loss);
  if (result.bits_per_byte) text += fmt::format(", {:.4f} bits per byte", *result.bits_per_byte);
  if (const auto bits = result.bits_per_byte_of(result.repeated_names))
    text += fmt::format(", {:.4f} on repeated names", *bits);
  if (const auto bits = result.bits_per_byte_of(result.elsewhere)) text += fmt::format(", {:.4f} elsewhere", *bits);
  return text;
}

Progress::Progress(int64_t steps, Talk talk) : steps_(steps), talk_(talk), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear_bar(); }

void Progress::clear_bar() {
  if (bar_shown_) std::fputs("\r\x1b[K", stderr);
  bar_shown_ = false;
}

void Progress::step(const StepResult& result, double tokens_per_s, double seconds_left) {
  if (talk_ == Talk::kQuiet) return;
  const auto text = fmt::format("step {}/{}  loss {:.4f}  {:.0f} tokens/s  {} left", result.step, steps_, result.loss,
                                tokens_per_s, spoken_time(seconds_left));
  if (!terminal_) {
    if (result.step < next_plain_ && result.step < steps_) return;
    next_plain_ = result.step + std::max<int64_t>(steps_ / 10, 1);
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < kRedraw && result.step < steps_) return;
  last_drawn_ = now;
  const auto full = static_cast<int>(kBarWidth * result.step / steps_);
  std::fprintf(stderr, "\r\x1b[K[%s%s] %s", std::string(full, '#').c_str(), std::string(kBarWidth - full, '.').c_str(),
               text.c_str());
  std::fflush(stderr);
  bar_shown_ = true;
}

void Progress::validation(int64_t step, const EvalResult& result) {
  note(fmt::format("step {}/{}  {}", step, steps_, describe(result)));
}

void Progress::note(const std::string& text) {
  if (talk_ == Talk::kQuiet) return;
  clear_bar();
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace blockzoo
