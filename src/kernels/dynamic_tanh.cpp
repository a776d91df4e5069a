#include "blockzoo/kernels/dynamic_tanh.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/norm_rows.h"
#include "kernels/rows/dynamic_tanh.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor dynamic_tanh_by_formula(const Tensor& x, const Tensor& alpha, const Tensor& gain, const Tensor& bias) {
  auto y = at::tanh(x.to(at::promote_types(x.scalar_type(), at::kFloat)) * alpha) * gain;
  if (bias.defined()) y = y + bias;
  return y.to(x.scalar_type());
}

struct FusedDynamicTanh : torch::autograd::Function<FusedDynamicTanh> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& given_alpha,
                        const Tensor& given_gain, const std::optional<Tensor>& given_bias) {
    RECORD_USER_SCOPE("blockzoo::dynamic_tanh_norm");
    const auto x = input.contiguous(), alpha = given_alpha.contiguous(), gain = given_gain.contiguous(),
               bias = given_bias ? given_bias->contiguous() : Tensor();
    const auto shape = norm_shape(x, alpha.numel(), 0);
    auto y = empty_as(x);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t, size_t first, const rows::NormShape& part) {
        const auto at = first * shape.width;
        rows::dynamic_tanh(part, read<T>(x) + at, read<float>(alpha), read<float>(gain), read<float>(bias),
                           write<T>(y) + at);
      });
    });
    if (context == nullptr) return y;
    context->save_for_backward({x, alpha, gain, bias});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &alpha = saved[1], &gain = saved[2], &bias = saved[3];
    const auto dy = gradients[0].contiguous();
    const auto shape = norm_shape(x, alpha.numel(), 0);
    auto dx = empty_as(x);
    const auto dalphas = sums_of_parts(alpha), dgains = sums_of_parts(gain), dbiases = sums_of_parts(bias);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t part, size_t first, const rows::NormShape& own) {
        const auto at = first * shape.width;
        rows::dynamic_tanh_backward(own, read<T>(x) + at, read<float>(alpha), read<float>(gain), read<T>(dy) + at,
                                    write<T>(dx) + at, of_part(dalphas, part), of_part(dgains, part),
                                    of_part(dbiases, part));
      });
    });
    return {dx, over_parts(dalphas, alpha), over_parts(dgains, gain), over_parts(dbiases, bias)};
  }
};

bool dynamic_tanh_fits(const Tensor& x, const Tensor& alpha, const Tensor& gain, const Tensor& bias) {
  return parameter_fits(x, alpha, /*one_a_row=*/true) && parameter_fits(x, gain) && parameter_fits(x, bias) &&
         gain.dim() == alpha.dim() && (!bias.defined() || bias.dim() == gain.dim());
}

}  // namespace

Tensor dynamic_tanh(const Tensor& x, const Tensor& alpha, const Tensor& gain, const Tensor& bias) {
  if (!fast_on_cpu(x) || x.numel() == 0 || !dynamic_tanh_fits(x, alpha, gain, bias))
    return dynamic_tanh_by_formula(x, alpha, gain, bias);
  return applied<FusedDynamicTanh>(x, alpha, gain, given(bias));
}

}  // namespace blockzoo
