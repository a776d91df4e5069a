#include "blockzoo/kernels/linear.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/fast.h"
#include "kernels/products.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// dy^T x, [out, in].
Tensor weight_gradient(const Tensor& dy, const Tensor& x) {
  const auto rows = dy.reshape({-1, dy.size(-1)}), inputs = x.reshape({-1, x.size(-1)});
  return products().weight_gradients_by_onednn ? onednn_weight_gradient(rows, inputs) : at::mm(rows.t(), inputs);
}

struct OnednnLinear : torch::autograd::Function<OnednnLinear> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    RECORD_USER_SCOPE("blockzoo::linear");
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value();
    return onednn_linear(x, weight, bias.value_or(Tensor()));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto& x = saved[0];
    const auto& weight = saved[1];
    const auto dy = gradients[0].contiguous();
    variable_list result(3);
    if (context->needs_input_grad(0)) result[0] = onednn_linear(dy, weight.t(), {});
    if (context->needs_input_grad(1)) result[1] = weight_gradient(dy, x);
    if (context->saved_data["bias"].toBool() && context->needs_input_grad(2))
      result[2] = dy.reshape({-1, dy.size(-1)}).sum(0);
    return result;
  }
};

bool by_onednn(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return products().outputs_by_onednn && fast_on_cpu(x) && x.scalar_type() == at::kFloat && x.dim() >= 2 &&
         x.numel() > 0 && weight.numel() > 0 && weight.dim() == 2 && x.size(-1) == weight.size(1) && weight.is_cpu() &&
         weight.scalar_type() == at::kFloat && (!bias.defined() || bias.scalar_type() == at::kFloat);
}

}  // namespace

Tensor linear_map(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (autocast_on_cpu() || !by_onednn(x, weight, bias)) return at::linear(x, weight, bias);
  return OnednnLinear::apply(x, weight, given(bias));
}

}  // namespace blockzoo
