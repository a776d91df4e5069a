#include "kernels/rows/rms_norm.h"

#include <cmath>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/rms_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

template <class T>
HWY_INLINE void normalise(const NormShape& shape, const T* x, const float* gain, T* y, float* inverse) {
  for (size_t row = 0; row < shape.rows; ++row, x += shape.width, y += shape.width) {
    auto squares = all(0);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto v = load(x + i, count);
      squares = hn::MulAdd(v, v, squares);
    });
    const float s = 1 / std::sqrt(sum_of(squares) / static_cast<float>(shape.width) + shape.eps);
    if (inverse != nullptr) inverse[row] = s;
    const auto scale = all(s);
    const float* own_gain = gain == nullptr ? nullptr : gain + row % shape.gain_rows * shape.width;
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto v = hn::Mul(load(x + i, count), scale);
      store(own_gain == nullptr ? v : hn::Mul(v, load(own_gain + i, count)), y + i, count);
    });
  }
}

template <class T>
HWY_INLINE void backward(const NormShape& shape, const T* x, const float* gain, const float* inverse, const T* dy,
                         T* dx, float* dgain) {
  for (size_t row = 0; row < shape.rows; ++row, x += shape.width, dy += shape.width, dx += shape.width) {
    const auto gain_at = row % shape.gain_rows * shape.width;
    const float* own_gain = gain == nullptr ? nullptr : gain + gain_at;
    const auto scale = all(inverse[row]);
    auto products = all(0);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto v = load(x + i, count), slope = load(dy + i, count);
      const auto product = hn::Mul(v, slope);
      products =
          own_gain == nullptr ? hn::Add(products, product) : hn::MulAdd(product, load(own_gain + i, count), products);
      if (own_gain == nullptr) return;
      float* sum = dgain + gain_at + i;
      store(hn::MulAdd(product, scale, load(sum, count)), sum, count);
    });
    const float s = inverse[row];
    const auto along = all(s * s * s * sum_of(products) / static_cast<float>(shape.width));
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      auto slope = load(dy + i, count);
      if (own_gain != nullptr) slope = hn::Mul(slope, load(own_gain + i, count));
      store(hn::NegMulAdd(load(x + i, count), along, hn::Mul(slope, scale)), dx + i, count);
    });
  }
}

void rms_norm_f32(const NormShape& shape, const float* x, const float* gain, float* y, float* inverse) {
  normalise(shape, x, gain, y, inverse);
}
void rms_norm_bf16(const NormShape& shape, const Bf16* x, const float* gain, Bf16* y, float* inverse) {
  normalise(shape, x, gain, y, inverse);
}
void rms_norm_backward_f32(const NormShape& shape, const float* x, const float* gain, const float* inverse,
                           const float* dy, float* dx, float* dgain) {
  backward(shape, x, gain, inverse, dy, dx, dgain);
}
void rms_norm_backward_bf16(const NormShape& shape, const Bf16* x, const float* gain, const float* inverse,
                            const Bf16* dy, Bf16* dx, float* dgain) {
  backward(shape, x, gain, inverse, dy, dx, dgain);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(rms_norm_f32);
HWY_EXPORT(rms_norm_bf16);
HWY_EXPORT(rms_norm_backward_f32);
HWY_EXPORT(rms_norm_backward_bf16);

void rms_norm(const NormShape& shape, const float* x, const float* gain, float* y, float* inverse) {
  HWY_DYNAMIC_DISPATCH(rms_norm_f32)(shape, x, gain, y, inverse);
}

void rms_norm(const NormShape& shape, const Bf16* x, const float* gain, Bf16* y, float* inverse) {
  HWY_DYNAMIC_DISPATCH(rms_norm_bf16)(shape, x, gain, y, inverse);
}

void rms_norm_backward(const NormShape& shape, const float* x, const float* gain, const float* inverse, const float* dy,
                       float* dx, float* dgain) {
  HWY_DYNAMIC_DISPATCH(rms_norm_backward_f32)(shape, x, gain, inverse, dy, dx, dgain);
}

void rms_norm_backward(const NormShape& shape, const Bf16* x, const float* gain, const float* inverse, const Bf16* dy,
                       Bf16* dx, float* dgain) {
  HWY_DYNAMIC_DISPATCH(rms_norm_backward_bf16)(shape, x, gain, inverse, dy, dx, dgain);
}

}  // namespace blockzoo::rows
#endif
