#include "blockzoo/kernels/soft_cap.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/fast.h"
#include "kernels/rows/soft_cap.h"

namespace blockzoo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kCapGrain = 1 << 14;  // elements that are worth a thread

/// Keeps y, which its reader keeps too, and not x.
struct FusedSoftCap : torch::autograd::Function<FusedSoftCap> {
  static Tensor forward(AutogradContext* context, const Tensor& input, double cap) {
    RECORD_USER_SCOPE("blockzoo::soft_cap");
    const auto x = input.contiguous();
    auto y = empty_as(x);
    by_element(x, [&]<class T>(T) {
      at::parallel_for(0, x.numel(), kCapGrain, [&](int64_t from, int64_t to) {
        rows::soft_cap(static_cast<size_t>(to - from), static_cast<float>(cap), read<T>(x) + from, write<T>(y) + from);
      });
    });
    if (context == nullptr) return y;
    context->save_for_backward({y});
    context->saved_data["cap"] = cap;
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto y = context->get_saved_variables()[0], dy = gradients[0].contiguous();
    const auto cap = static_cast<float>(context->saved_data["cap"].toDouble());
    auto dx = empty_as(y);
    by_element(y, [&]<class T>(T) {
      at::parallel_for(0, y.numel(), kCapGrain, [&](int64_t from, int64_t to) {
        rows::soft_cap_backward(static_cast<size_t>(to - from), cap, read<T>(y) + from, read<T>(dy) + from,
                                write<T>(dx) + from);
      });
    });
    return {dx, Tensor()};
  }
};

}  // namespace

Tensor soft_cap(const Tensor& x, double cap) {
  if (!fast_on_cpu(x) || x.numel() == 0) return at::tanh(x / cap) * cap;
  return applied<FusedSoftCap>(x, cap);
}

}  // namespace blockzoo
