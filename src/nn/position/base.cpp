#include "blockzoo/nn/position/base.h"

#include <ATen/ATen.h>

namespace blockzoo {

Tensor PositionImpl::embed(const Tensor& x, int64_t) const { return x; }
Tensor PositionImpl::rotate(const Tensor& x, int64_t) const { return x; }
Tensor PositionImpl::bias(int64_t, int64_t, int64_t) const { return {}; }

void PositionImpl::to(at::Device device, at::ScalarType dtype, bool non_blocking) {
  to(device, non_blocking);
  to(dtype, non_blocking);
}

void PositionImpl::to(at::ScalarType dtype, bool non_blocking) {
  for (const auto& child : children()) child->to(dtype, non_blocking);
}

}  // namespace blockzoo
