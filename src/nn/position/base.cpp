#include "blockzoo/nn/position/base.h"

namespace blockzoo {

Tensor PositionImpl::embed(const Tensor& x, int64_t) const { return x; }
Tensor PositionImpl::rotate(const Tensor& x, int64_t) const { return x; }
Tensor PositionImpl::bias(int64_t, int64_t, int64_t) const { return {}; }

}  // namespace blockzoo
