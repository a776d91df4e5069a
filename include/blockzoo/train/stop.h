#pragma once

namespace blockzoo {

/// From now on the first SIGINT or SIGTERM only asks the program to stop (see stop_signal); the second ends it at once
/// with exit code 128 + signal. Checkpoints are complete at any moment, so nothing is damaged.
void watch_for_stop();

/// The signal that asked to stop, or 0.
int stop_signal();

}  // namespace blockzoo
