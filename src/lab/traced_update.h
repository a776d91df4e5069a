#pragma once

#include <string>

#include "blockzoo/nn/model_config.h"
#include "lab/traced_operators.h"

namespace blockzoo {

/// Bytes that are there all the time, and the values of the largest parameter.
struct FixedMemory {
  double parameters = 0;
  double moments = 0;
  double tables = 0;  // of positions: no parameters
  double largest = 0;

  double bytes() const { return parameters + moments + tables; }
};

/// For an optimizer that keeps `moments` float32 numbers for each of a parameter.
FixedMemory fixed_memory(const ModelConfig& config, double moments);

/// What one update of this program takes beside that.
struct TracedUpdate {
  double kept = 0;     // bytes when the backward pass begins
  double peak = 0;     // the most bytes at a time, of everything
  std::string moment;  // when
};

/// One update whose batch is read in one part; the gradients of the update before are gone when it begins.
TracedUpdate traced_update(const ModelConfig& config, const FixedMemory& fixed, const TraceSettings& settings);

}  // namespace blockzoo
