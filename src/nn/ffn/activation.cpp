#include "blockzoo/nn/ffn/activation.h"

#include <ATen/ATen.h>

namespace blockzoo {

Tensor activate(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kGelu:
      return at::gelu(x, "none");
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kSilu:
      return at::silu(x);
    case Activation::kReluSquared:
      return at::relu(x).square();
    case Activation::kElu:
      return at::elu(x);
    case Activation::kSelu:
      return at::selu(x);
    case Activation::kSigmoid:
      return at::sigmoid(x);
    case Activation::kIdentity:
      return x;
  }
  TORCH_CHECK(false, "[activation] unknown value ", static_cast<int>(activation));
}

}  // namespace blockzoo
