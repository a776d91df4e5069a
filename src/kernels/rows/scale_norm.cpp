#include "kernels/rows/scale_norm.h"

#include <cmath>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/scale_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

template <class T>
HWY_INLINE void to_length(const NormShape& shape, const T* x, const float* gain, T* y) {
  for (size_t row = 0; row < shape.rows; ++row, x += shape.width, y += shape.width) {
    auto squares = all(0);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto v = load(x + i, count);
      squares = hn::MulAdd(v, v, squares);
    });
    const float length = std::sqrt(sum_of(squares));
    const auto factor = all(gain[row % shape.gain_rows] / (length < shape.eps ? shape.eps : length));
    walk(shape.width,
         [&](size_t i, size_t count) HWY_ATTR { store(hn::Mul(load(x + i, count), factor), y + i, count); });
  }
}

template <class T>
HWY_INLINE void to_length_backward(const NormShape& shape, const T* x, const float* gain, const T* dy, T* dx,
                                   float* dgain) {
  for (size_t row = 0; row < shape.rows; ++row, x += shape.width, dy += shape.width, dx += shape.width) {
    auto squares = all(0), products = all(0);
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      const auto v = load(x + i, count);
      squares = hn::MulAdd(v, v, squares);
      products = hn::MulAdd(v, load(dy + i, count), products);
    });
    const float length = std::sqrt(sum_of(squares)), dot = sum_of(products);
    const float l = length < shape.eps ? shape.eps : length, scale = gain[row % shape.gain_rows] / l;
    dgain[row % shape.gain_rows] += dot / l;
    const auto factor = all(scale), along = all(length < shape.eps ? 0 : scale * (dot / l / l));
    walk(shape.width, [&](size_t i, size_t count) HWY_ATTR {
      store(hn::NegMulAdd(load(x + i, count), along, hn::Mul(load(dy + i, count), factor)), dx + i, count);
    });
  }
}

void scale_norm_f32(const NormShape& shape, const float* x, const float* gain, float* y) {
  to_length(shape, x, gain, y);
}
void scale_norm_bf16(const NormShape& shape, const Bf16* x, const float* gain, Bf16* y) {
  to_length(shape, x, gain, y);
}
void scale_norm_backward_f32(const NormShape& shape, const float* x, const float* gain, const float* dy, float* dx,
                             float* dgain) {
  to_length_backward(shape, x, gain, dy, dx, dgain);
}
void scale_norm_backward_bf16(const NormShape& shape, const Bf16* x, const float* gain, const Bf16* dy, Bf16* dx,
                              float* dgain) {
  to_length_backward(shape, x, gain, dy, dx, dgain);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(scale_norm_f32);
HWY_EXPORT(scale_norm_bf16);
HWY_EXPORT(scale_norm_backward_f32);
HWY_EXPORT(scale_norm_backward_bf16);

void scale_norm(const NormShape& shape, const float* x, const float* gain, float* y) {
  HWY_DYNAMIC_DISPATCH(scale_norm_f32)(shape, x, gain, y);
}

void scale_norm(const NormShape& shape, const Bf16* x, const float* gain, Bf16* y) {
  HWY_DYNAMIC_DISPATCH(scale_norm_bf16)(shape, x, gain, y);
}

void scale_norm_backward(const NormShape& shape, const float* x, const float* gain, const float* dy, float* dx,
                         float* dgain) {
  HWY_DYNAMIC_DISPATCH(scale_norm_backward_f32)(shape, x, gain, dy, dx, dgain);
}

void scale_norm_backward(const NormShape& shape, const Bf16* x, const float* gain, const Bf16* dy, Bf16* dx,
                         float* dgain) {
  HWY_DYNAMIC_DISPATCH(scale_norm_backward_bf16)(shape, x, gain, dy, dx, dgain);
}

}  // namespace blockzoo::rows
#endif
