#pragma once

#include <vector>

#include "blockzoo/nn/types.h"

namespace blockzoo {

/// y = x W^T + b. Shapes: x [..., in], weight [out, in], bias [out] or undefined -> y [..., out].
/// Precision: that of x and W; under autocast its own. Float32 products are true float32 by every library.
Tensor linear_map(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

struct LinearMap {
  Tensor weight, bias;
};

/// Several maps of one x, each as linear_map() has it. In a step of generation their weights are read in one go.
std::vector<Tensor> linear_maps(const Tensor& x, const std::vector<LinearMap>& maps);

/// Batched matrix product: a [N, rows, inner], b [N, inner, columns] -> [N, rows, columns], in the precision that
/// linear_map() has.
Tensor batched_matmul(const Tensor& a, const Tensor& b);

}  // namespace blockzoo
