#include "blockzoo/nn/norm/base.h"

#include <ATen/ATen.h>

namespace blockzoo {

void NormImpl::to(at::Device device, at::ScalarType dtype, bool non_blocking) {
  to(device, non_blocking);
  to(dtype, non_blocking);
}

void NormImpl::to(at::ScalarType dtype, bool non_blocking) {
  torch::nn::Module::to(at::promote_types(dtype, at::kFloat), non_blocking);
}

}  // namespace blockzoo
