#include "kernels/rows/rotary.h"

#include <algorithm>
#include <vector>

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/rotary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

/// Heads of one position, pairs apart: the first numbers of all of a head's, then the second ones.
template <class T>
HWY_INLINE void turn_halves(const RotaryShape& shape, Vector sense, const T* x, const float* cosine, const float* sine,
                            T* y) {
  const auto half = shape.channels / 2, end = shape.heads * shape.width;
  walk(half, [&](size_t i, size_t some) HWY_ATTR {
    const auto c = load(cosine + i, some), s = hn::Mul(sense, load(sine + i, some));
    for (size_t at = i; at < end; at += shape.width) {
      const auto a = load(x + at, some), b = load(x + at + half, some);
      store(hn::NegMulAdd(b, s, hn::Mul(a, c)), y + at, some);
      store(hn::MulAdd(a, s, hn::Mul(b, c)), y + at + half, some);
    }
  });
}

/// Each vector's numbers, the two of every pair exchanged.
HWY_INLINE Vector exchanged(Vector pairs) {
#if HWY_TARGET == HWY_SCALAR
  return pairs;  // not reached: a vector has no pair
#else
  return hn::Reverse2(Floats(), pairs);
#endif
}

/// The same with pairs side by side, and tables that have each number twice: cosine, cosine and -sine, sine.
template <class T>
HWY_INLINE void turn_neighbours(const RotaryShape& shape, const T* x, const float* cosine, const float* sine, T* y) {
  const auto end = shape.heads * shape.width;
  if (lanes() == 1) {
    for (size_t i = 0; i < shape.channels; ++i) {
      for (size_t at = 0; at < end; at += shape.width)
        put(wide(x[at + i]) * cosine[i] + wide(x[at + (i ^ 1)]) * sine[i], y + at + i);
    }
    return;
  }
  walk(shape.channels, [&](size_t i, size_t some) HWY_ATTR {
    const auto c = load(cosine + i, some), s = load(sine + i, some);
    for (size_t at = i; at < end; at += shape.width) {
      const auto v = load(x + at, some);
      store(hn::MulAdd(exchanged(v), s, hn::Mul(v, c)), y + at, some);
    }
  });
}

template <class T>
HWY_INLINE void turn(const RotaryShape& shape, size_t first, size_t last, float sense, const T* x, const float* cosine,
                     const float* sine, T* y) {
  const auto channels = shape.channels, half = channels / 2, row = shape.heads * shape.width;
  const bool apart = shape.pairs == Pairs::kHalf;
  std::vector<float> cosines(apart ? 0 : channels), sines(apart ? 0 : channels);
  for (size_t t = first; t < last; ++t) {
    const float *c = cosine + t * half, *s = sine + t * half;
    for (size_t i = 0; i < half && !apart; ++i) {
      cosines[2 * i] = cosines[2 * i + 1] = c[i];
      sines[2 * i] = -sense * s[i];
      sines[2 * i + 1] = sense * s[i];
    }
    for (size_t sequence = 0; sequence < shape.sequences; ++sequence) {
      const auto at = (sequence * shape.length + t) * row;
      if (apart)
        turn_halves(shape, all(sense), x + at, c, s, y + at);
      else
        turn_neighbours(shape, x + at, cosines.data(), sines.data(), y + at);
      for (size_t head = 0; head < shape.heads && channels < shape.width; ++head) {
        const auto rest = at + head * shape.width + channels;
        std::copy_n(x + rest, shape.width - channels, y + rest);
      }
    }
  }
}

void rotate_f32(const RotaryShape& shape, size_t first, size_t last, float sense, const float* x, const float* cosine,
                const float* sine, float* y) {
  turn(shape, first, last, sense, x, cosine, sine, y);
}
void rotate_bf16(const RotaryShape& shape, size_t first, size_t last, float sense, const Bf16* x, const float* cosine,
                 const float* sine, Bf16* y) {
  turn(shape, first, last, sense, x, cosine, sine, y);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace blockzoo::rows {

HWY_EXPORT(rotate_f32);
HWY_EXPORT(rotate_bf16);

void rotate(const RotaryShape& shape, size_t first, size_t last, float sense, const float* x, const float* cosine,
            const float* sine, float* y) {
  HWY_DYNAMIC_DISPATCH(rotate_f32)(shape, first, last, sense, x, cosine, sine, y);
}

void rotate(const RotaryShape& shape, size_t first, size_t last, float sense, const Bf16* x, const float* cosine,
            const float* sine, Bf16* y) {
  HWY_DYNAMIC_DISPATCH(rotate_bf16)(shape, first, last, sense, x, cosine, sine, y);
}

}  // namespace blockzoo::rows
#endif
