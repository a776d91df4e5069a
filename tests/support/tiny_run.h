#pragma once

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// A run of seconds: 2 layers of width 16 over 24-byte windows of generated stories.
inline RunConfig tiny_run() {
  RunConfig config;
  config.model.width = 16;
  config.model.layers = 2;
  config.model.context = 24;
  std::get<SoftmaxAttentionConfig>(config.model.block.attention).heads = 2;
  config.data.corpus = StoriesConfig{.seed = 0, .train_stories = 32, .validation_stories = 4};
  config.data.validation_windows = 12;
  config.train.steps = 8;
  config.train.batch = 4;
  config.train.log_every = 1;
  config.train.device = DeviceChoice::kCpu;
  config.train.threads = 1;
  config.train.schedule = ConstantSchedule{};
  return config;
}

}  // namespace blockzoo
