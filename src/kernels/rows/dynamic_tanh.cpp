#include "kernels/rows/dynamic_tanh.h"

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/dynamic_tanh.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"
#include "kernels/rows/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

template <class T>
HWY_INLINE void squash(const NormShape& shape, const T* x, const float* alpha, const float* gain, const float* bias,
                       T* y) {
  for (size_t row = 0; row < shape.rows; ++row, x += shape.width, y += shape.width) {
    const auto gain_row = row % shape.gain_rows, at = gain_row * shape.width;
    const auto a = all(alpha[gain_row]);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      auto v = hn::Mul(load(gain + at + i, count), tanh_of(hn::Mul(a, load(x + i, count))));
      if (bias != nullptr) v = hn::Add(v, load(bias + at + i, count));
      store(v, y + i, count);
    });
  }
}

template <class T>
HWY_INLINE void squash_backward(const NormShape& shape, const T* x, const float* alpha, const float* gain, const T* dy,
                                T* dx, float* dalpha, float* dgain, float* dbias) {
  for (size_t row = 0; row < shape.rows; ++row, x += shape.width, dy += shape.width, dx += shape.width) {
    const auto gain_row = row % shape.gain_rows, at = gain_row * shape.width;
    const auto a = all(alpha[gain_row]);
    auto products = all(0);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto v = load(x + i, count), slope = load(dy + i, count);
      const auto t = tanh_of(hn::Mul(a, v));
      const auto u = hn::Mul(hn::Mul(load(gain + at + i, count), slope), hn::NegMulAdd(t, t, all(1)));
      store(hn::Mul(a, u), dx + i, count);
      products = hn::MulAdd(u, v, products);
      store(hn::MulAdd(slope, t, load(dgain + at + i, count)), dgain + at + i, count);
      if (dbias != nullptr) store(hn::Add(slope, load(dbias + at + i, count)), dbias + at + i, count);
    });
    dalpha[gain_row] += sum_of(products);
  }
}

void dynamic_tanh_f32(const NormShape& shape, const float* x, const float* alpha, const float* gain, const float* bias,
                      float* y) {
  squash(shape, x, alpha, gain, bias, y);
}
void dynamic_tanh_bf16(const NormShape& shape, const Bf16* x, const float* alpha, const float* gain, const float* bias,
                       Bf16* y) {
  squash(shape, x, alpha, gain, bias, y);
}
void dynamic_tanh_backward_f32(const NormShape& shape, const float* x, const float* alpha, const float* gain,
                               const float* dy, float* dx, float* dalpha, float* dgain, float* dbias) {
  squash_backward(shape, x, alpha, gain, dy, dx, dalpha, dgain, dbias);
}
void dynamic_tanh_backward_bf16(const NormShape& shape, const Bf16* x, const float* alpha, const float* gain,
                                const Bf16* dy, Bf16* dx, float* dalpha, float* dgain, float* dbias) {
  squash_backward(shape, x, alpha, gain, dy, dx, dalpha, dgain, dbias);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(dynamic_tanh_f32);
HWY_EXPORT(dynamic_tanh_bf16);
HWY_EXPORT(dynamic_tanh_backward_f32);
HWY_EXPORT(dynamic_tanh_backward_bf16);

void dynamic_tanh(const NormShape& shape, const float* x, const float* alpha, const float* gain, const float* bias,
                  float* y) {
  HWY_DYNAMIC_DISPATCH(dynamic_tanh_f32)(shape, x, alpha, gain, bias, y);
}

void dynamic_tanh(const NormShape& shape, const Bf16* x, const float* alpha, const float* gain, const float* bias,
                  Bf16* y) {
  HWY_DYNAMIC_DISPATCH(dynamic_tanh_bf16)(shape, x, alpha, gain, bias, y);
}

void dynamic_tanh_backward(const NormShape& shape, const float* x, const float* alpha, const float* gain,
                           const float* dy, float* dx, float* dalpha, float* dgain, float* dbias) {
  HWY_DYNAMIC_DISPATCH(dynamic_tanh_backward_f32)(shape, x, alpha, gain, dy, dx, dalpha, dgain, dbias);
}

void dynamic_tanh_backward(const NormShape& shape, const Bf16* x, const float* alpha, const float* gain, const Bf16* dy,
                           Bf16* dx, float* dalpha, float* dgain, float* dbias) {
  HWY_DYNAMIC_DISPATCH(dynamic_tanh_backward_bf16)(shape, x, alpha, gain, dy, dx, dalpha, dgain, dbias);
}

}  // namespace blockzoo::rows
#endif
