#include "kernels/bfloat16_linear.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/fast.h"
#include "kernels/many_rows.h"
#include "kernels/parallel.h"
#include "kernels/products.h"
#include "kernels/rows/weight_gradient_pairs.h"
#include "kernels/shared_packing.h"
#include "kernels/widened_products.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The last input that was rounded, and its copy, for as long as others keep both. Gradients of maps that read one copy
/// are summed there, before they are widened.
struct LastRounded {
  using Weak = c10::weak_intrusive_ptr<c10::TensorImpl>;
  Weak input, copy;
  int64_t version;
};
thread_local std::optional<LastRounded> last_rounded;

Tensor rounded(const Tensor& x) {
  if (x.scalar_type() == at::kBFloat16) return x.contiguous();
  if (x.is_inference()) return x.to(at::kBFloat16).contiguous();
  if (last_rounded && last_rounded->version == x._version()) {
    const auto input = last_rounded->input.lock(), copy = last_rounded->copy.lock();
    const bool same = input.get() == x.unsafeGetTensorImpl() && copy;
    if (same && copy->requires_grad() == (x.requires_grad() && at::GradMode::is_enabled())) return Tensor(copy);
  }
  const auto copy = x.to(at::kBFloat16).contiguous();
  last_rounded = {.input = LastRounded::Weak(x.getIntrusivePtr()),
                  .copy = LastRounded::Weak(copy.getIntrusivePtr()),
                  .version = x._version()};
  return copy;
}

Tensor output(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (bfloat16_products() == Bfloat16Products::kWidened) return widened_linear(x, weight, bias);
  return bfloat16_products() == Bfloat16Products::kRows ? linear_by_rows(x, weight, bias)
                                                        : at::linear(x, weight, given(bias));
}

Tensor input_gradient(const Tensor& dy, const Tensor& weight) {
  if (bfloat16_products() == Bfloat16Products::kWidened) return widened_input_gradient(dy, weight);
  return bfloat16_products() == Bfloat16Products::kRows ? linear_by_rows(dy, weight.t(), {}) : at::mm(dy, weight);
}

Tensor weight_gradient(const Tensor& dy, const Tensor& x, Tensor& packed) {
  return bfloat16_products() == Bfloat16Products::kWidened ? widened_weight_gradient(dy, x, packed)
                                                           : weight_gradient_in_pairs(dy, x, packed);
}

struct Bfloat16Linear : torch::autograd::Function<Bfloat16Linear> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Tensor& rounded_weight) {
    RECORD_USER_SCOPE("blockzoo::linear");
    if (context != nullptr) {
      context->save_for_backward({x, rounded_weight});
      context->saved_data["bias"] = bias.has_value();
      if (weight.requires_grad() && !x.is_inference()) share_packing(context, x);
    }
    return output(x, rounded_weight, bias ? bias->to(at::kBFloat16) : Tensor());
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1];
    const auto dy = as_matrix(gradients[0]).contiguous();
    variable_list result(4);
    if (context->needs_input_grad(0)) result[0] = input_gradient(dy, weight).view(x.sizes());
    if (context->needs_input_grad(1)) {
      result[1] = with_packing(context, [&](Tensor& packed) { return weight_gradient(dy, as_matrix(x), packed); });
    }
    if (context->saved_data["bias"].toBool() && context->needs_input_grad(2)) result[2] = dy.sum(0, false, at::kFloat);
    return result;
  }
};

}  // namespace

Tensor weight_gradient_in_pairs(const Tensor& dy, const Tensor& x, Tensor& packed) {
  const auto* pairs = rows::weight_gradient_in_pairs();
  const auto size = [](const Tensor& of, int64_t dim) { return static_cast<size_t>(of.size(dim)); };
  const rows::WeightGradientShape shape{.rows = size(x, 0), .outputs = size(dy, 1), .inputs = size(x, 1)};
  if (!packed.defined()) {
    packed = at::empty({static_cast<int64_t>(pairs->packed_size(shape))}, at::kFloat);  // a pair is as large
    in_parallel(pairs->packing_tasks(shape), [&](size_t first, size_t last) {
      pairs->pack_inputs(shape, read<rows::Bf16>(x), first, last, write<rows::Bf16Pair>(packed));
    });
  }
  auto dw = at::empty({dy.size(1), x.size(1)}, at::kFloat);
  in_parallel(pairs->tasks(shape), [&](size_t first, size_t last) {
    pairs->weight_gradient(shape, read<rows::Bf16>(dy), read<rows::Bf16Pair>(packed), first, last, write<float>(dw));
  });
  return dw;
}

bool bfloat16_linear_fits(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto wide = [](const Tensor& of) { return of.is_cpu() && of.scalar_type() == at::kFloat; };
  return bfloat16_products() != Bfloat16Products::kLibTorch && autocast_on_cpu() &&
         at::autocast::get_autocast_dtype(at::kCPU) == at::kBFloat16 && fast_on_cpu(x) && x.dim() >= 2 &&
         x.numel() > 0 && wide(weight) && weight.dim() == 2 && weight.numel() > 0 && x.size(-1) == weight.size(1) &&
         (!bias.defined() || wide(bias));
}

Tensor bfloat16_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto rounded_weight = at::autocast::cached_cast(at::kBFloat16, weight, at::kCPU).detach();  // once an update
  return applied<Bfloat16Linear>(rounded(x), weight, given(bias), rounded_weight);
}

}  // namespace blockzoo
