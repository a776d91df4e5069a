#include "blockzoo/kernels/scale_norm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/norm_rows.h"
#include "kernels/rows/scale_norm.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The root is taken of a number that is never zero, so that a zero row has a gradient.
Tensor scale_norm_by_formula(const Tensor& x, const Tensor& gain, double eps) {
  const auto wide = x.to(at::promote_types(x.scalar_type(), at::kFloat));
  const auto length = wide.square().sum(-1, /*keepdim=*/true).clamp_min(eps * eps).sqrt();
  return (wide * (gain / length)).to(x.scalar_type());
}

struct FusedScaleNorm : torch::autograd::Function<FusedScaleNorm> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& given_gain, double eps) {
    RECORD_USER_SCOPE("blockzoo::scale_norm");
    const auto x = input.contiguous(), gain = given_gain.contiguous();
    const auto shape = norm_shape(x, gain.numel(), eps);
    auto y = empty_as(x);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t, size_t first, const rows::NormShape& part) {
        const auto at = first * shape.width;
        rows::scale_norm(part, read<T>(x) + at, read<float>(gain), write<T>(y) + at);
      });
    });
    if (context == nullptr) return y;
    context->save_for_backward({x, gain});
    context->saved_data["eps"] = eps;
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &gain = saved[1];
    const auto dy = gradients[0].contiguous();
    const auto shape = norm_shape(x, gain.numel(), context->saved_data["eps"].toDouble());
    auto dx = empty_as(x);
    const auto dgains = sums_of_parts(gain);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t part, size_t first, const rows::NormShape& own) {
        const auto at = first * shape.width;
        rows::scale_norm_backward(own, read<T>(x) + at, read<float>(gain), read<T>(dy) + at, write<T>(dx) + at,
                                  of_part(dgains, part));
      });
    });
    return {dx, over_parts(dgains, gain), Tensor()};
  }
};

}  // namespace

Tensor scale_norm(const Tensor& x, const Tensor& gain, double eps) {
  if (!fast_on_cpu(x) || x.numel() == 0 || !parameter_fits(x, gain, /*one_a_row=*/true))
    return scale_norm_by_formula(x, gain, eps);
  return applied<FusedScaleNorm>(x, gain, eps);
}

}  // namespace blockzoo
