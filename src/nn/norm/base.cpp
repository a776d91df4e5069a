#include "blockzoo/nn/norm/base.h"

#include <ATen/ATen.h>

namespace blockzoo {

Tensor widened(const Tensor& x) { return x.to(at::promote_types(x.scalar_type(), at::kFloat)); }

}  // namespace blockzoo
