#include "blockzoo/kernels/activation.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/fast.h"
#include "kernels/rows/activation.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kActivationGrain = 1 << 14;  // elements that are worth a thread

Tensor activate_by_formula(Activation f, const Tensor& x) {
  switch (f) {
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
  TORCH_CHECK(false, "[activation] unknown value ", static_cast<int>(f));
}

/// f(gate) * up in one pass; without the product where `up` is undefined.
struct FusedActivation : torch::autograd::Function<FusedActivation> {
  static Tensor forward(AutogradContext* context, const Tensor& gates, const std::optional<Tensor>& ups, int64_t f) {
    RECORD_USER_SCOPE("blockzoo::activation");
    const auto gate = gates.contiguous(), up = ups ? ups->contiguous() : Tensor();
    auto y = empty_as(gate);
    by_element(gate, [&]<class T>(T) {
      at::parallel_for(0, gate.numel(), kActivationGrain, [&](int64_t from, int64_t to) {
        rows::activate(static_cast<Activation>(f), static_cast<size_t>(to - from), read<T>(gate) + from,
                       up.defined() ? read<T>(up) + from : nullptr, write<T>(y) + from);
      });
    });
    if (context == nullptr) return y;
    context->save_for_backward({gate, up});
    context->saved_data["f"] = f;
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &gate = saved[0], &up = saved[1];
    const auto f = static_cast<Activation>(context->saved_data["f"].toInt());
    const auto dy = gradients[0].contiguous();
    auto dgate = empty_as(gate), dup = up.defined() ? empty_as(up) : up;
    by_element(gate, [&]<class T>(T) {
      at::parallel_for(0, gate.numel(), kActivationGrain, [&](int64_t from, int64_t to) {
        const bool has_up = up.defined();
        rows::activate_backward(f, static_cast<size_t>(to - from), read<T>(gate) + from,
                                has_up ? read<T>(up) + from : nullptr, read<T>(dy) + from, write<T>(dgate) + from,
                                has_up ? write<T>(dup) + from : nullptr);
      });
    });
    return {dgate, dup, Tensor()};
  }
};

}  // namespace

Tensor activate(Activation f, const Tensor& x) {
  if (!fast_on_cpu(x) || f == Activation::kIdentity) return activate_by_formula(f, x);
  return applied<FusedActivation>(x, std::optional<Tensor>(), static_cast<int64_t>(f));
}

Tensor gated(Activation f, const Tensor& gate, const Tensor& up) {
  const bool alike = gate.scalar_type() == up.scalar_type() && gate.sizes() == up.sizes();
  if (!fast_on_cpu(gate) || !fast_on_cpu(up) || !alike) return activate_by_formula(f, gate) * up;
  return applied<FusedActivation>(gate, given(up), static_cast<int64_t>(f));
}

}  // namespace blockzoo
