#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "blockzoo/train/session.h"

namespace blockzoo {

enum class Talk { kNormal, kQuiet };

/// Shows a run on standard error: one line that is drawn again on a terminal, plain lines now and then otherwise.
class Progress {
 public:
  Progress(int64_t steps, Talk talk);
  ~Progress();

  void step(const StepResult& result, double tokens_per_s, double seconds_left);
  void validation(int64_t step, const EvalResult& result);
  void note(const std::string& text);

 private:
  void clear_bar();

  const int64_t steps_;
  const Talk talk_;
  const bool terminal_;
  bool bar_shown_ = false;
  int64_t next_plain_ = 1;
  std::chrono::steady_clock::time_point last_drawn_;
};

/// "1 h 05 min", "3 min 20 s" or "45 s".
std::string spoken_time(double seconds);

/// "validation 1.2340 nats per token, 1.7800 bits per byte, 0.7200 on repeated names, 1.8800 elsewhere".
std::string describe(const EvalResult& result);

}  // namespace blockzoo
