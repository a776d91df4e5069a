#include "kernels/rows/rotary.h"

#include "kernels/rows/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/rotary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

struct Pair {
  Vector a, b;
};

/// `count` pairs that lie side by side, taken apart.
template <class T>
HWY_INLINE Pair load_pairs(const T* from, size_t count) {
  HWY_ALIGN T both[2 * hn::MaxLanes(Floats())] = {};
  std::memcpy(both, from, 2 * count * sizeof(T));
  HWY_ALIGN T parts[2 * hn::MaxLanes(Floats())] = {};
  for (size_t i = 0; i < lanes(); ++i) {
    parts[i] = both[2 * i];
    parts[lanes() + i] = both[2 * i + 1];
  }
  return {load_whole(parts), load_whole(parts + lanes())};
}

template <class T>
HWY_INLINE void store_pairs(Pair pair, T* to, size_t count) {
  HWY_ALIGN T parts[2 * hn::MaxLanes(Floats())];
  store_whole(pair.a, parts);
  store_whole(pair.b, parts + lanes());
  for (size_t i = 0; i < count; ++i) {
    to[2 * i] = parts[i];
    to[2 * i + 1] = parts[lanes() + i];
  }
}

HWY_INLINE Pair turned(Pair p, Vector cosine, Vector sine) {
  return {hn::NegMulAdd(p.b, sine, hn::Mul(p.a, cosine)), hn::MulAdd(p.a, sine, hn::Mul(p.b, cosine))};
}

template <class T>
HWY_INLINE void turn_head(const RotaryShape& shape, Vector sense, const T* x, const float* cosine, const float* sine,
                          T* y) {
  const auto half = shape.channels / 2;
  if (shape.pairs == Pairs::kHalf) {
    walk(half, [&](size_t i, size_t count) HWY_ATTR {
      const auto s = hn::Mul(sense, load(sine + i, count));
      const auto p = turned({load(x + i, count), load(x + half + i, count)}, load(cosine + i, count), s);
      store(p.a, y + i, count);
      store(p.b, y + half + i, count);
    });
  } else {
    walk(half, [&](size_t i, size_t count) HWY_ATTR {
      const auto s = hn::Mul(sense, load(sine + i, count));
      store_pairs(turned(load_pairs(x + 2 * i, count), load(cosine + i, count), s), y + 2 * i, count);
    });
  }
  std::memcpy(y + shape.channels, x + shape.channels, (shape.width - shape.channels) * sizeof(T));
}

template <class T>
HWY_INLINE void turn(const RotaryShape& shape, size_t first, size_t last, float sense, const T* x, const float* cosine,
                     const float* sine, T* y) {
  for (size_t sequence = 0; sequence < shape.sequences; ++sequence) {
    for (size_t t = first; t < last; ++t) {
      for (size_t head = 0; head < shape.heads; ++head) {
        const auto at = ((sequence * shape.length + t) * shape.heads + head) * shape.width;
        const auto angle = t * (shape.channels / 2);
        turn_head(shape, all(sense), x + at, cosine + angle, sine + angle, y + at);
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
