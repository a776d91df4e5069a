#include "kernels/widened_products.h"

#include <ATen/ATen.h>

#include "kernels/fast.h"
#include "kernels/products.h"

namespace blockzoo {
namespace {

/// Autocast would round what has just been widened.
struct AsTheyAre {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast{c10::DispatchKey::AutocastCPU};
};

Tensor wide(const Tensor& x) { return x.defined() ? x.to(at::kFloat) : x; }

bool is_chosen() { return bfloat16_products() == Bfloat16Products::kWidened; }

bool half(const Tensor& x) { return x.is_cpu() && x.scalar_type() == at::kBFloat16; }

Tensor widened_bmm(const Tensor& a, const Tensor& b) {
  const auto product = at::bmm(wide(a), wide(b));
  return product.to(at::kBFloat16);
}

struct WidenedBatchedMatmul : torch::autograd::Function<WidenedBatchedMatmul> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& a, const Tensor& b) {
    if (context != nullptr) context->save_for_backward({a, b});
    return widened_bmm(a, b);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    return {widened_bmm(gradients[0], saved[1].transpose(1, 2)), widened_bmm(saved[0].transpose(1, 2), gradients[0])};
  }
};

}  // namespace

Tensor widened_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const AsTheyAre guard;
  const auto y = float_linear(wide(x), wide(weight), wide(bias));
  return y.to(at::kBFloat16);
}

Tensor widened_input_gradient(const Tensor& dy, const Tensor& weight) {
  const AsTheyAre guard;
  const auto dx = float_linear(wide(dy), wide(weight).t(), {});
  return dx.to(at::kBFloat16);
}

Tensor widened_weight_gradient(const Tensor& dy, const Tensor& x, Tensor& packed) {
  const AsTheyAre guard;
  return weight_gradient_by(products().weight_gradients, wide(dy), wide(x), packed);
}

Tensor widened_batched_matmul(const Tensor& a, const Tensor& b) {
  const AsTheyAre guard;
  return applied<WidenedBatchedMatmul>(a.to(at::kBFloat16), b.to(at::kBFloat16));
}

bool widened_linear_fits(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return is_chosen() && !at::GradMode::is_enabled() && fast_on_cpu(x) && half(x) && half(weight) && x.dim() >= 2 &&
         x.numel() > 0 && weight.dim() == 2 && weight.numel() > 0 && x.size(-1) == weight.size(1) &&
         (!bias.defined() || half(bias));
}

bool widened_batched_fits(const Tensor& a, const Tensor& b) {
  const bool rounding = autocast_on_cpu() && at::autocast::get_autocast_dtype(at::kCPU) == at::kBFloat16;
  const auto becomes_half = [&](const Tensor& x) { return half(x) || (rounding && x.scalar_type() == at::kFloat); };
  return is_chosen() && fast_on_cpu(a) && fast_on_cpu(b) && becomes_half(a) && becomes_half(b);
}

}  // namespace blockzoo
