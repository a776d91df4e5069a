#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blockzoo/lab/study.h"

namespace blockzoo {

/// One arm at one point of the sweep, with the seeds that it is run with.
struct Setting {
  const PlannedRun* run = nullptr;  // with the first seed; the others differ in it alone
  std::vector<int64_t> seeds;

  /// "post_norm, train.optimizer.lr 0.003, seeds 0, 1, 2".
  std::string title() const;
};

/// In the study's order. The study must outlive them.
std::vector<Setting> settings_of(const Study& study);

}  // namespace blockzoo
