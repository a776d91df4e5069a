#pragma once

#include "blockzoo/nn/model_config.h"

namespace blockzoo {

/// Floating-point operations of the forward and of the backward pass outside matrix products: one for each addition,
/// subtraction, multiplication, division, comparison, root, exponential, logarithm, tanh and erf of the formula. The
/// backward pass has those of the derivative, with all that the forward pass computed at hand, and one addition where
/// two gradients of one number meet. Casts, copies, random numbers and changes of sign are none.
struct PassFlops {
  double forward = 0;
  double backward = 0;

  double total() const { return forward + backward; }
  PassFlops& operator+=(const PassFlops& other) {
    forward += other.forward;
    backward += other.backward;
    return *this;
  }
};

inline PassFlops operator+(PassFlops a, const PassFlops& b) { return a += b; }
inline PassFlops operator*(double count, const PassFlops& each) {
  return {count * each.forward, count * each.backward};
}

/// A norm over one row of `width` numbers.
PassFlops norm_flops(const NormConfig& norm, double width);

/// f(x), one number.
PassFlops activation_flops(Activation activation);

/// f(gate) * up, one number.
PassFlops gate_flops(Activation activation);

/// One score of a query and a key on its way to a weight: scale, cap, bias, softmax, dropout.
PassFlops score_flops(const BlockConfig& block);

/// By what they are for, as flops.h counts matrix products.
struct ElementFlops {
  PassFlops norms;
  PassFlops scores;       // over all pairs of a query and a key
  PassFlops activations;  // and gates
  PassFlops positions;    // beside what they add to scores
  PassFlops embedding;    // adding up the gradients of tables
  PassFlops sums;         // residual sums, biases, factors, dropout, gradients that meet
};

/// Of one sequence of `tokens` tokens up to the logits, from the config alone. The final soft cap is the loss's.
/// Errors: ConfigError when the config does not fit together.
ElementFlops element_flops(const ModelConfig& config, int64_t tokens);

}  // namespace blockzoo
