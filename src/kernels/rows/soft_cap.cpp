#include "kernels/rows/soft_cap.h"

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/soft_cap.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"
#include "kernels/rows/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

template <class T>
HWY_INLINE void cap_each(size_t count, float cap, const T* x, T* y) {
  const auto most = all(cap), inverse = all(1 / cap);
  walk(count, [&](size_t i, size_t some)
                  HWY_ATTR { store(hn::Mul(most, tanh_of(hn::Mul(inverse, load(x + i, some)))), y + i, some); });
}

template <class T>
HWY_INLINE void cap_each_backward(size_t count, float cap, const T* y, const T* dy, T* dx) {
  const auto inverse = all(1 / cap);
  walk(count, [&](size_t i, size_t some) HWY_ATTR {
    const auto t = hn::Mul(inverse, load(y + i, some));
    store(hn::Mul(load(dy + i, some), hn::NegMulAdd(t, t, all(1))), dx + i, some);
  });
}

void soft_cap_f32(size_t count, float cap, const float* x, float* y) { cap_each(count, cap, x, y); }
void soft_cap_bf16(size_t count, float cap, const Bf16* x, Bf16* y) { cap_each(count, cap, x, y); }
void soft_cap_backward_f32(size_t count, float cap, const float* y, const float* dy, float* dx) {
  cap_each_backward(count, cap, y, dy, dx);
}
void soft_cap_backward_bf16(size_t count, float cap, const Bf16* y, const Bf16* dy, Bf16* dx) {
  cap_each_backward(count, cap, y, dy, dx);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(soft_cap_f32);
HWY_EXPORT(soft_cap_bf16);
HWY_EXPORT(soft_cap_backward_f32);
HWY_EXPORT(soft_cap_backward_bf16);

void soft_cap(size_t count, float cap, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(soft_cap_f32)(count, cap, x, y);
}

void soft_cap(size_t count, float cap, const Bf16* x, Bf16* y) {
  HWY_DYNAMIC_DISPATCH(soft_cap_bf16)(count, cap, x, y);
}

void soft_cap_backward(size_t count, float cap, const float* y, const float* dy, float* dx) {
  HWY_DYNAMIC_DISPATCH(soft_cap_backward_f32)(count, cap, y, dy, dx);
}

void soft_cap_backward(size_t count, float cap, const Bf16* y, const Bf16* dy, Bf16* dx) {
  HWY_DYNAMIC_DISPATCH(soft_cap_backward_bf16)(count, cap, y, dy, dx);
}

}  // namespace blockzoo::rows
#endif
