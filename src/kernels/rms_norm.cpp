#include "blockzoo/kernels/rms_norm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/fast.h"
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

rows::RmsNormShape rms_norm_shape(const Tensor& x, const Tensor& gain, double eps) {
  const auto width = x.size(-1);
  return {.rows = static_cast<size_t>(x.numel() / width),
          .width = static_cast<size_t>(width),
          .gain_rows = static_cast<size_t>(gain.defined() ? gain.numel() / width : 1),
          .eps = static_cast<float>(eps)};
}

/// Calls f(part, first row, shape of the part) for parts of the rows that depend on the shape alone, so that sums over
/// parts do not depend on the number of threads. A part begins with the first gain row.
constexpr int64_t kNormParts = 16;
constexpr size_t kNormGrain = 1 << 14;  // elements that are worth a thread

template <class F>
void in_norm_parts(const rows::RmsNormShape& shape, const F& f) {
  const auto groups = shape.rows / shape.gain_rows;
  const auto grain = shape.rows * shape.width < kNormGrain ? kNormParts : 1;
  at::parallel_for(0, kNormParts, grain, [&](int64_t from, int64_t to) {
    for (auto part = from; part < to; ++part) {
      const auto first = groups * static_cast<size_t>(part) / kNormParts * shape.gain_rows;
      const auto last = groups * static_cast<size_t>(part + 1) / kNormParts * shape.gain_rows;
      auto own = shape;
      own.rows = last - first;
      if (own.rows > 0) f(part, first, own);
    }
  });
}

struct FusedRmsNorm : torch::autograd::Function<FusedRmsNorm> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const std::optional<Tensor>& given_gain,
                        double eps) {
    RECORD_USER_SCOPE("blockzoo::rms_norm");
    const auto x = input.contiguous(), gain = given_gain ? given_gain->contiguous() : Tensor();
    const auto shape = rms_norm_shape(x, gain, eps);
    auto y = at::empty_like(x), inverse = at::empty({static_cast<int64_t>(shape.rows)}, at::kFloat);
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t, size_t first, const rows::RmsNormShape& part) {
        const auto at = first * shape.width;
        rows::rms_norm(part, read<T>(x) + at, read<float>(gain), write<T>(y) + at, write<float>(inverse) + first);
      });
    });
    context->save_for_backward({x, gain, inverse});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &gain = saved[1], &inverse = saved[2];
    const auto dy = gradients[0].contiguous();
    const auto shape = rms_norm_shape(x, gain, 0);
    auto dx = at::empty_like(x);
    const auto dgains = gain.defined() ? at::zeros({kNormParts, gain.numel()}, at::kFloat) : Tensor();
    by_element(x, [&]<class T>(T) {
      in_norm_parts(shape, [&](int64_t part, size_t first, const rows::RmsNormShape& own) {
        const auto at = first * shape.width;
        float* dgain = gain.defined() ? write<float>(dgains) + part * gain.numel() : nullptr;
        rows::rms_norm_backward(own, read<T>(x) + at, read<float>(gain), read<float>(inverse) + first, read<T>(dy) + at,
                                write<T>(dx) + at, dgain);
      });
    });
    return {dx, gain.defined() ? dgains.sum(0).view_as(gain) : Tensor(), Tensor()};
  }
};

bool fits(const Tensor& x, const Tensor& gain) {
  if (!gain.defined()) return true;
  return gain.scalar_type() == at::kFloat && gain.dim() <= x.dim() &&
         x.sizes().slice(x.dim() - gain.dim()).equals(gain.sizes());
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& gain, double eps) {
  TORCH_CHECK(!gain.defined() || x.size(-1) == gain.size(-1), "[rms_norm] last dim of x must be ", gain.size(-1),
              ", got x ", x.sizes());
  if (!fast_on_cpu(x) || x.numel() == 0 || !fits(x, gain)) return rms_norm_by_formula(x, gain, eps);
  return applied<FusedRmsNorm>(x, given(gain), eps);
}

}  // namespace blockzoo
