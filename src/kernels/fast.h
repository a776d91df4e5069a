#pragma once

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "blockzoo/kernels/choice.h"
#include "kernels/rows/element.h"

namespace blockzoo {

/// Fast kernels take plain CPU tensors of float32 and bfloat16; all else goes by the reference.
inline bool fast_on_cpu(const at::Tensor& x) {
  const bool type = x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16;
  return kernels_in_use() == Kernels::kFast && type && x.is_cpu() && x.layout() == at::kStrided;
}

inline bool autocast_on_cpu() { return at::autocast::is_autocast_enabled(at::kCPU); }

/// An autograd function's result; where nothing is recorded, its forward has no context and keeps nothing.
template <class Function, class... Inputs>
auto applied(Inputs&&... inputs) {
  if (at::GradMode::is_enabled()) return Function::apply(std::forward<Inputs>(inputs)...);
  return Function::forward(nullptr, std::forward<Inputs>(inputs)...);
}

/// Calls f(element) with rows::Bf16 or float, as the tensor's type is.
template <class F>
void by_element(const at::Tensor& x, F&& f) {
  x.scalar_type() == at::kFloat ? f(float{}) : f(rows::Bf16{});
}

/// An input of an autograd function that may be undefined.
inline std::optional<at::Tensor> given(const at::Tensor& x) {
  return x.defined() ? std::make_optional(x) : std::nullopt;
}

/// Memory for as much as x holds, which has no gaps.
inline at::Tensor empty_as(const at::Tensor& x) { return at::empty(x.sizes(), x.options()); }

template <class T>
const T* read(const at::Tensor& x) {
  return x.defined() ? static_cast<const T*>(x.const_data_ptr()) : nullptr;
}

template <class T>
T* write(const at::Tensor& x) {
  return x.defined() ? static_cast<T*>(x.mutable_data_ptr()) : nullptr;
}

}  // namespace blockzoo
