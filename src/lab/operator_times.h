#pragma once

#include <functional>
#include <map>
#include <string>

#include "lab/allocations.h"

namespace blockzoo {

/// Seconds that LibTorch's operators and ours took and bytes of tensors that they made, without those that they called,
/// and how often.
struct OperatorTime {
  double seconds = 0;
  int64_t calls = 0;
  double allocated_bytes = 0;
};

/// By name, of what `work` calls on this thread, where `allocations` are heard; "outside operators" is the rest. What
/// an operator takes by another that only takes memory (aten::empty and its like) is its own.
std::map<std::string, OperatorTime> operator_times(Allocations& allocations, const std::function<void()>& work);

/// What an operator is for: "matrix products", "attention", "softmax", "norms", "activations and gates", "positions",
/// "loss", "optimizer", "embedding", "sums, casts and copies", "rest".
std::string kind_of_operator(const std::string& name);

}  // namespace blockzoo
