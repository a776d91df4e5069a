#include "blockzoo/kernels/layer_norm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/norm_rows.h"
#include "kernels/rows/layer_norm.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor layer_norm_by_formula(const Tensor& x, const Tensor& given_gain, const Tensor& given_bias, double eps) {
  const auto wide = x.to(at::promote_types(x.scalar_type(), at::kFloat));
  const auto gain = given_gain.defined() ? given_gain.to(wide.scalar_type()) : given_gain;
  const auto bias = given_bias.defined() ? given_bias.to(wide.scalar_type()) : given_bias;
  const bool one_gain = (!gain.defined() || gain.dim() == 1) && (!bias.defined() || bias.dim() == 1);
  if (one_gain) return at::layer_norm(wide, {x.size(-1)}, gain, bias, eps).to(x.scalar_type());
  auto y = at::layer_norm(wide, {x.size(-1)}, {}, {}, eps);
  if (gain.defined()) y = y * gain;
  if (bias.defined()) y = y + bias;
  return y.to(x.scalar_type());
}

/// The shape of the rows by gain or bias, whichever is there.
rows::NormShape layer_norm_shape(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps) {
  const auto& either = gain.defined() ? gain : bias;
  return norm_shape(x, either.defined() ? either.numel() / x.size(-1) : 1, eps);
}

struct FusedLayerNorm : torch::autograd::Function<FusedLayerNorm> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const std::optional<Tensor>& given_gain,
                        const std::optional<Tensor>& given_bias, double eps) {
    RECORD_USER_SCOPE("blockzoo::layer_norm");
    const auto x = input.contiguous(), gain = given_gain ? given_gain->contiguous() : Tensor(),
               bias = given_bias ? given_bias->contiguous() : Tensor();
    const auto shape = layer_norm_shape(x, gain, bias, eps);
    auto y = empty_as(x);
    const auto mean = row_numbers(shape, context != nullptr), inverse = row_numbers(shape, context != nullptr);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t, size_t first, const rows::NormShape& part) {
        const auto at = first * shape.width;
        rows::layer_norm(part, read<T>(x) + at, read<float>(gain), read<float>(bias), write<T>(y) + at,
                         from_row(mean, first), from_row(inverse, first));
      });
    });
    if (context == nullptr) return y;
    context->save_for_backward({x, gain, bias, mean, inverse});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &gain = saved[1], &bias = saved[2], &mean = saved[3], &inverse = saved[4];
    const auto dy = gradients[0].contiguous();
    const auto shape = layer_norm_shape(x, gain, bias, 0);
    auto dx = empty_as(x);
    const auto dgains = sums_of_parts(gain), dbiases = sums_of_parts(bias);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t part, size_t first, const rows::NormShape& own) {
        const auto at = first * shape.width;
        rows::layer_norm_backward(own, read<T>(x) + at, read<float>(gain), read<float>(mean) + first,
                                  read<float>(inverse) + first, read<T>(dy) + at, write<T>(dx) + at,
                                  of_part(dgains, part), of_part(dbiases, part));
      });
    });
    return {dx, over_parts(dgains, gain), over_parts(dbiases, bias), Tensor()};
  }
};

bool layer_norm_fits(const Tensor& x, const Tensor& gain, const Tensor& bias) {
  const bool alike = !gain.defined() || !bias.defined() || gain.sizes().equals(bias.sizes());
  return alike && parameter_fits(x, gain) && parameter_fits(x, bias);
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps) {
  if (!fast_on_cpu(x) || x.numel() == 0 || !layer_norm_fits(x, gain, bias))
    return layer_norm_by_formula(x, gain, bias, eps);
  return applied<FusedLayerNorm>(x, given(gain), given(bias), eps);
}

}  // namespace blockzoo
