#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace blockzoo {

/// How far something is, on standard error: a bar that is drawn again on a terminal, plain lines now and then
/// otherwise.
class PartBar {
 public:
  explicit PartBar(bool quiet);
  ~PartBar() { clear(); }
  PartBar(const PartBar&) = delete;
  PartBar& operator=(const PartBar&) = delete;

  /// `done` is from 0 to 1 and grows while `what` stays the same.
  void show(std::string_view what, double done);
  void clear();

 private:
  const bool quiet_;
  const bool terminal_;
  bool drawn_ = false;
  std::string what_;
  double next_plain_ = 0;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace blockzoo
