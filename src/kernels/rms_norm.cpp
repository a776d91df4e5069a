#include "blockzoo/kernels/rms_norm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/norm_rows.h"
#include "kernels/rows/rms_norm.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor rms_norm_by_formula(const Tensor& x, const Tensor& gain, double eps) {
  const auto wide = x.to(at::promote_types(x.scalar_type(), at::kFloat));
  auto y = wide * at::rsqrt(wide.square().mean(-1, /*keepdim=*/true) + eps);
  if (gain.defined()) y = y * gain;
  return y.to(x.scalar_type());
}

rows::NormShape rms_norm_shape(const Tensor& x, const Tensor& gain, double eps) {
  return norm_shape(x, gain.defined() ? gain.numel() / x.size(-1) : 1, eps);
}

struct FusedRmsNorm : torch::autograd::Function<FusedRmsNorm> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const std::optional<Tensor>& given_gain,
                        double eps) {
    RECORD_USER_SCOPE("blockzoo::rms_norm");
    const auto x = input.contiguous(), gain = given_gain ? given_gain->contiguous() : Tensor();
    const auto shape = rms_norm_shape(x, gain, eps);
    auto y = empty_as(x);
    const auto inverse = row_numbers(shape, context != nullptr);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t, size_t first, const rows::NormShape& part) {
        const auto at = first * shape.width;
        rows::rms_norm(part, read<T>(x) + at, read<float>(gain), write<T>(y) + at, from_row(inverse, first));
      });
    });
    if (context == nullptr) return y;
    context->save_for_backward({x, gain, inverse});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &gain = saved[1], &inverse = saved[2];
    const auto dy = gradients[0].contiguous();
    const auto shape = rms_norm_shape(x, gain, 0);
    auto dx = empty_as(x);
    const auto dgains = sums_of_parts(gain);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t part, size_t first, const rows::NormShape& own) {
        const auto at = first * shape.width;
        rows::rms_norm_backward(own, read<T>(x) + at, read<float>(gain), read<float>(inverse) + first, read<T>(dy) + at,
                                write<T>(dx) + at, of_part(dgains, part));
      });
    });
    return {dx, over_parts(dgains, gain), Tensor()};
  }
};

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& gain, double eps) {
  TORCH_CHECK(!gain.defined() || x.size(-1) == gain.size(-1), "[rms_norm] last dim of x must be ", gain.size(-1),
              ", got x ", x.sizes());
  if (!fast_on_cpu(x) || x.numel() == 0 || !parameter_fits(x, gain)) return rms_norm_by_formula(x, gain, eps);
  return applied<FusedRmsNorm>(x, given(gain), eps);
}

}  // namespace blockzoo
