#include "blockzoo/nn/linear.h"

#include <ATen/Functions.h>

#include "blockzoo/nn/parameter.h"

namespace blockzoo {

LinearImpl::LinearImpl(const LinearConfig& config)
    : config(config), weight(register_parameter("weight", born({config.out, config.in}, 0))) {
  if (config.bias) bias = register_parameter("bias", born({config.out}, 0));
}

Tensor LinearImpl::forward(const Tensor& x) { return at::linear(x, weight, bias); }

EmbeddingImpl::EmbeddingImpl(int64_t rows, int64_t width)
    : weight(register_parameter("weight", born({rows, width}, 0))) {}

Tensor EmbeddingImpl::forward(const Tensor& ids) { return at::embedding(weight, ids); }

}  // namespace blockzoo
