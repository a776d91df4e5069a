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

/// Pairs that lie side by side, taken apart, and back.
HWY_INLINE Pair load_pairs(const float* from) {
  Pair pair;
  hn::LoadInterleaved2(Floats(), from, pair.a, pair.b);
  return pair;
}

HWY_INLINE Pair load_pairs(const Bf16* from) {
  const Words words;
  const auto both = hn::LoadU(words, reinterpret_cast<const uint32_t*>(from));
  return {hn::BitCast(Floats(), hn::ShiftLeft<16>(both)),
          hn::BitCast(Floats(), hn::And(both, hn::Set(words, 0xffff0000)))};
}

HWY_INLINE void store_pairs(Pair pair, float* to) { hn::StoreInterleaved2(pair.a, pair.b, Floats(), to); }

HWY_INLINE void store_pairs(Pair pair, Bf16* to) {
  const Words words;
  const auto lower = hn::ShiftRight<16>(rounded_bits(pair.a));
  const auto upper = hn::And(rounded_bits(pair.b), hn::Set(words, 0xffff0000));
  hn::StoreU(hn::Or(lower, upper), words, reinterpret_cast<uint32_t*>(to));
}

HWY_INLINE Pair turned(Pair p, Vector cosine, Vector sine) {
  return {hn::NegMulAdd(p.b, sine, hn::Mul(p.a, cosine)), hn::MulAdd(p.a, sine, hn::Mul(p.b, cosine))};
}

template <class T>
HWY_INLINE void turn_head(const RotaryShape& shape, float sense, const T* x, const float* cosine, const float* sine,
                          T* y) {
  const auto half = shape.channels / 2;
  const bool apart = shape.pairs == Pairs::kHalf;
  size_t i = 0;
  for (; i + lanes() <= half; i += lanes()) {
    const auto c = load_whole(cosine + i), s = hn::Mul(all(sense), load_whole(sine + i));
    if (apart) {
      const auto p = turned({load_whole(x + i), load_whole(x + half + i)}, c, s);
      store_whole(p.a, y + i);
      store_whole(p.b, y + half + i);
    } else {
      store_pairs(turned(load_pairs(x + 2 * i), c, s), y + 2 * i);
    }
  }
  for (; i < half; ++i) {
    const auto at_a = apart ? i : 2 * i, at_b = apart ? half + i : 2 * i + 1;
    const float a = wide(x[at_a]), b = wide(x[at_b]), c = cosine[i], s = sense * sine[i];
    put(a * c - b * s, y + at_a);
    put(a * s + b * c, y + at_b);
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
        turn_head(shape, sense, x + at, cosine + angle, sine + angle, y + at);
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
