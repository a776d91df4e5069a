#pragma once

#include <torch/nn/module.h>

namespace blockzoo {

/// Evaluation mode while it lives: no dropout.
class EvalScope {
 public:
  explicit EvalScope(torch::nn::Module& module) : module_(module), training_(module.is_training()) { module.eval(); }
  ~EvalScope() { module_.train(training_); }
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;

 private:
  torch::nn::Module& module_;
  const bool training_;
};

}  // namespace blockzoo
