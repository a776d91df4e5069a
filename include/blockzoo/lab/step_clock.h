#pragma once

#include <filesystem>
#include <memory>

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// How long one update of a run takes on this machine: what runs are matched by when they shall take the same time.
/// The first run that is asked for is the reference. Others are timed in turn with it, A B A B ..., so that what else
/// the machine does touches both; their seconds are the reference's times the median ratio. Each kind of run, its model
/// and its training without numbers of the optimizer and the schedule, is timed once, so that the points of a sweep get
/// the same number of steps.
class StepClock {
 public:
  StepClock();

  /// Seconds of one update. Errors: ConfigError and std::runtime_error where the run cannot begin.
  double operator()(const RunConfig& config) const;

  /// step_times.json in a study's folder: with it a study that goes on keeps the steps that it began with. Reading
  /// nothing is no error.
  void read(const std::filesystem::path& folder);
  void write(const std::filesystem::path& folder) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace blockzoo
