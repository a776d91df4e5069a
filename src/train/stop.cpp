#include "blockzoo/train/stop.h"

#include <unistd.h>

#include <csignal>

namespace blockzoo {
namespace {

volatile std::sig_atomic_t asked = 0;

void on_signal(int signal) {
  if (asked != 0) _exit(128 + signal);
  asked = signal;
}

}  // namespace

void watch_for_stop() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() { return asked; }

}  // namespace blockzoo
