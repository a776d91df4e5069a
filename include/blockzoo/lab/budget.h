#pragma once

#include <cstdint>
#include <optional>

#include "blockzoo/train/run_config.h"

namespace blockzoo {

/// How much every run of a study is trained, when the study says so and not its arms.
struct BudgetConfig {
  std::optional<int64_t> tokens;

  static void fields(auto& self, auto& visit) {
    visit("tokens", self.tokens, positive,
          "training tokens of every run; sets train.steps to tokens / (batch x context), rounded down");
  }
};

/// Tokens that one update of `config` sees.
inline int64_t tokens_of_step(const RunConfig& config) { return config.train.batch * config.model.context; }

}  // namespace blockzoo
