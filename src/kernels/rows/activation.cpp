#include "kernels/rows/activation.h"

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/activation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"
#include "kernels/rows/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

template <class F, class T>
HWY_INLINE void apply(size_t count, const T* gate, const T* up, T* y) {
  walk(count, [=](size_t i, size_t n) HWY_ATTR {
    const auto value = F::template at<T>(load(gate + i, n)).value;
    store(up == nullptr ? value : hn::Mul(value, load(up + i, n)), y + i, n);
  });
}

template <class F, class T>
HWY_INLINE void differentiate(size_t count, const T* gate, const T* up, const T* dy, T* dgate, T* dup) {
  walk(count, [=](size_t i, size_t n) HWY_ATTR {
    const auto [value, slope] = F::template at<T>(load(gate + i, n));
    const auto dv = load(dy + i, n);
    const auto with_up = up == nullptr ? dv : hn::Mul(dv, load(up + i, n));
    store(hn::Mul(with_up, slope), dgate + i, n);
    if (up != nullptr) store(hn::Mul(dv, value), dup + i, n);
  });
}

template <class T>
HWY_INLINE void apply_chosen(Activation f, size_t count, const T* gate, const T* up, T* y) {
  switch (f) {
    case Activation::kRelu:
      return apply<Relu>(count, gate, up, y);
    case Activation::kGelu:
      return apply<Gelu>(count, gate, up, y);
    case Activation::kGeluTanh:
      return apply<GeluTanh>(count, gate, up, y);
    case Activation::kSilu:
      return apply<Silu>(count, gate, up, y);
    case Activation::kReluSquared:
      return apply<ReluSquared>(count, gate, up, y);
    case Activation::kElu:
      return apply<Elu>(count, gate, up, y);
    case Activation::kSelu:
      return apply<Selu>(count, gate, up, y);
    case Activation::kSigmoid:
      return apply<Sigmoid>(count, gate, up, y);
    case Activation::kIdentity:
      return apply<Identity>(count, gate, up, y);
  }
}

template <class T>
HWY_INLINE void differentiate_chosen(Activation f, size_t count, const T* gate, const T* up, const T* dy, T* dgate,
                                     T* dup) {
  switch (f) {
    case Activation::kRelu:
      return differentiate<Relu>(count, gate, up, dy, dgate, dup);
    case Activation::kGelu:
      return differentiate<Gelu>(count, gate, up, dy, dgate, dup);
    case Activation::kGeluTanh:
      return differentiate<GeluTanh>(count, gate, up, dy, dgate, dup);
    case Activation::kSilu:
      return differentiate<Silu>(count, gate, up, dy, dgate, dup);
    case Activation::kReluSquared:
      return differentiate<ReluSquared>(count, gate, up, dy, dgate, dup);
    case Activation::kElu:
      return differentiate<Elu>(count, gate, up, dy, dgate, dup);
    case Activation::kSelu:
      return differentiate<Selu>(count, gate, up, dy, dgate, dup);
    case Activation::kSigmoid:
      return differentiate<Sigmoid>(count, gate, up, dy, dgate, dup);
    case Activation::kIdentity:
      return differentiate<Identity>(count, gate, up, dy, dgate, dup);
  }
}

void activate_f32(Activation f, size_t count, const float* gate, const float* up, float* y) {
  apply_chosen(f, count, gate, up, y);
}
void activate_bf16(Activation f, size_t count, const Bf16* gate, const Bf16* up, Bf16* y) {
  apply_chosen(f, count, gate, up, y);
}
void activate_backward_f32(Activation f, size_t count, const float* gate, const float* up, const float* dy,
                           float* dgate, float* dup) {
  differentiate_chosen(f, count, gate, up, dy, dgate, dup);
}
void activate_backward_bf16(Activation f, size_t count, const Bf16* gate, const Bf16* up, const Bf16* dy, Bf16* dgate,
                            Bf16* dup) {
  differentiate_chosen(f, count, gate, up, dy, dgate, dup);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(activate_f32);
HWY_EXPORT(activate_bf16);
HWY_EXPORT(activate_backward_f32);
HWY_EXPORT(activate_backward_bf16);

void activate(Activation f, size_t count, const float* gate, const float* up, float* y) {
  HWY_DYNAMIC_DISPATCH(activate_f32)(f, count, gate, up, y);
}

void activate(Activation f, size_t count, const Bf16* gate, const Bf16* up, Bf16* y) {
  HWY_DYNAMIC_DISPATCH(activate_bf16)(f, count, gate, up, y);
}

void activate_backward(Activation f, size_t count, const float* gate, const float* up, const float* dy, float* dgate,
                       float* dup) {
  HWY_DYNAMIC_DISPATCH(activate_backward_f32)(f, count, gate, up, dy, dgate, dup);
}

void activate_backward(Activation f, size_t count, const Bf16* gate, const Bf16* up, const Bf16* dy, Bf16* dgate,
                       Bf16* dup) {
  HWY_DYNAMIC_DISPATCH(activate_backward_bf16)(f, count, gate, up, dy, dgate, dup);
}

}  // namespace blockzoo::rows
#endif
