#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

namespace blockzoo {

/// An input packed for weight gradients, by the first backward that needs it, for all linear maps that read the input;
/// gone with the last of their backwards, or with the graph.
struct SharedPacking final : torch::CustomClassHolder {
  at::Tensor packed;
  int64_t to_come = 0;                                   // maps whose backward has not been
  void release_resources() override { packed.reset(); }  // though somebody may still ask whether it is alive
};

/// For the forward of a map that will want dW: keeps with the node what it shares with the maps that read the same x
/// just before.
void share_packing(torch::autograd::AutogradContext* context, const at::Tensor& x);

/// For its backward: f(packing), which f makes where it is undefined.
template <class F>
at::Tensor with_packing(torch::autograd::AutogradContext* context, const F& f) {
  auto& shared = static_cast<SharedPacking&>(*context->saved_data["packing"].toCapsule());
  auto result = f(shared.packed);
  if (--shared.to_come <= 0) shared.packed.reset();
  return result;
}

}  // namespace blockzoo
