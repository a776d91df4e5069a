#pragma once

#include <cstdint>
#include <string>

#include "blockzoo/nn/model.h"
#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// What a trained model wrote behind a prompt.
struct Sample {
  std::string prompt;
  std::string text;    // valid UTF-8
  int64_t tokens = 0;  // new ones
};

/// What `model` writes behind the config's prompt, up to the token that ends texts. Errors: as generate, and those of a
/// tokenizer's file.
Sample draw_sample(ModelImpl& model, const RunConfig& config, const TextSample& wanted);

}  // namespace blockzoo
