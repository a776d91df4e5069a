#include "kernels/rows/layer_norm.h"

#include <cmath>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/layer_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// A row's part of gain or bias, or null where there is none.
HWY_INLINE const float* row_of(const float* parameter, size_t at) {
  return parameter == nullptr ? nullptr : parameter + at;
}

template <class T>
HWY_INLINE void centre_and_scale(const NormShape& shape, const T* x, const float* gain, const float* bias, T* y,
                                 float* mean, float* inverse) {
  const float share = 1 / static_cast<float>(shape.width);
  for (size_t row = 0; row < shape.rows; ++row, x += shape.width, y += shape.width) {
    auto total = all(0);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR { total = hn::Add(total, load(x + i, count)); });
    const float m = sum_of(total) * share;
    if (mean != nullptr) mean[row] = m;
    const auto middle = all(m);
    auto squares = all(0);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto v = first_lanes(hn::Sub(load(x + i, count), middle), count, all(0));
      squares = hn::MulAdd(v, v, squares);
    });
    const float s = 1 / std::sqrt(sum_of(squares) * share + shape.eps);
    if (inverse != nullptr) inverse[row] = s;
    const auto scale = all(s);
    const auto at = row % shape.gain_rows * shape.width;
    const float *own_gain = row_of(gain, at), *own_bias = row_of(bias, at);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      auto v = hn::Mul(hn::Sub(load(x + i, count), middle), scale);
      if (own_gain != nullptr) v = hn::Mul(v, load(own_gain + i, count));
      if (own_bias != nullptr) v = hn::Add(v, load(own_bias + i, count));
      store(v, y + i, count);
    });
  }
}

template <class T>
HWY_INLINE void centre_and_scale_backward(const NormShape& shape, const T* x, const float* gain, const float* mean,
                                          const float* inverse, const T* dy, T* dx, float* dgain, float* dbias) {
  const float share = 1 / static_cast<float>(shape.width);
  for (size_t row = 0; row < shape.rows; ++row, x += shape.width, dy += shape.width, dx += shape.width) {
    const auto at = row % shape.gain_rows * shape.width;
    const float* own_gain = row_of(gain, at);
    const auto middle = all(mean[row]), scale = all(inverse[row]);
    auto slopes = all(0), products = all(0);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto z = hn::Mul(hn::Sub(load(x + i, count), middle), scale);
      auto slope = load(dy + i, count);
      if (dgain != nullptr) store(hn::MulAdd(slope, z, load(dgain + at + i, count)), dgain + at + i, count);
      if (dbias != nullptr) store(hn::Add(slope, load(dbias + at + i, count)), dbias + at + i, count);
      if (own_gain != nullptr) slope = hn::Mul(slope, load(own_gain + i, count));
      slopes = hn::Add(slopes, slope);
      products = hn::MulAdd(slope, z, products);
    });
    const auto mean_slope = all(sum_of(slopes) * share), along = all(sum_of(products) * share);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto z = hn::Mul(hn::Sub(load(x + i, count), middle), scale);
      auto slope = load(dy + i, count);
      if (own_gain != nullptr) slope = hn::Mul(slope, load(own_gain + i, count));
      store(hn::Mul(scale, hn::NegMulAdd(z, along, hn::Sub(slope, mean_slope))), dx + i, count);
    });
  }
}

void layer_norm_f32(const NormShape& shape, const float* x, const float* gain, const float* bias, float* y, float* mean,
                    float* inverse) {
  centre_and_scale(shape, x, gain, bias, y, mean, inverse);
}
void layer_norm_bf16(const NormShape& shape, const Bf16* x, const float* gain, const float* bias, Bf16* y, float* mean,
                     float* inverse) {
  centre_and_scale(shape, x, gain, bias, y, mean, inverse);
}
void layer_norm_backward_f32(const NormShape& shape, const float* x, const float* gain, const float* mean,
                             const float* inverse, const float* dy, float* dx, float* dgain, float* dbias) {
  centre_and_scale_backward(shape, x, gain, mean, inverse, dy, dx, dgain, dbias);
}
void layer_norm_backward_bf16(const NormShape& shape, const Bf16* x, const float* gain, const float* mean,
                              const float* inverse, const Bf16* dy, Bf16* dx, float* dgain, float* dbias) {
  centre_and_scale_backward(shape, x, gain, mean, inverse, dy, dx, dgain, dbias);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(layer_norm_f32);
HWY_EXPORT(layer_norm_bf16);
HWY_EXPORT(layer_norm_backward_f32);
HWY_EXPORT(layer_norm_backward_bf16);

void layer_norm(const NormShape& shape, const float* x, const float* gain, const float* bias, float* y, float* mean,
                float* inverse) {
  HWY_DYNAMIC_DISPATCH(layer_norm_f32)(shape, x, gain, bias, y, mean, inverse);
}

void layer_norm(const NormShape& shape, const Bf16* x, const float* gain, const float* bias, Bf16* y, float* mean,
                float* inverse) {
  HWY_DYNAMIC_DISPATCH(layer_norm_bf16)(shape, x, gain, bias, y, mean, inverse);
}

void layer_norm_backward(const NormShape& shape, const float* x, const float* gain, const float* mean,
                         const float* inverse, const float* dy, float* dx, float* dgain, float* dbias) {
  HWY_DYNAMIC_DISPATCH(layer_norm_backward_f32)(shape, x, gain, mean, inverse, dy, dx, dgain, dbias);
}

void layer_norm_backward(const NormShape& shape, const Bf16* x, const float* gain, const float* mean,
                         const float* inverse, const Bf16* dy, Bf16* dx, float* dgain, float* dbias) {
  HWY_DYNAMIC_DISPATCH(layer_norm_backward_bf16)(shape, x, gain, mean, inverse, dy, dx, dgain, dbias);
}

}  // namespace blockzoo::rows
#endif
