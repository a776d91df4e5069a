#pragma once

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// While it lives, parameters and tables of this thread are born on `device`. On the meta device a model of any size is
/// built without memory, so that its parameters can be counted.
class BornOn {
 public:
  explicit BornOn(at::Device device);
  ~BornOn();
  BornOn(const BornOn&) = delete;
  BornOn& operator=(const BornOn&) = delete;

 private:
  at::Device before_;
};

/// The device that this thread's tensors are born on; the CPU unless a BornOn lives.
at::Device birthplace();

/// A new float32 tensor of this shape, every element `value`.
Tensor born(at::IntArrayRef shape, double value);

}  // namespace blockzoo
