// Vectors of float32 from and to rows of float32 or bfloat16, once for every instruction set (Highway's pattern).
#if defined(BLOCKZOO_KERNELS_ROWS_ELEMENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BLOCKZOO_KERNELS_ROWS_ELEMENT_INL_H_
#undef BLOCKZOO_KERNELS_ROWS_ELEMENT_INL_H_
#else
#define BLOCKZOO_KERNELS_ROWS_ELEMENT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "kernels/rows/element.h"

HWY_BEFORE_NAMESPACE();
namespace blockzoo::rows::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using Halves = hn::Rebind<uint16_t, Floats>;

HWY_INLINE size_t lanes() { return hn::Lanes(Floats()); }
HWY_INLINE Vector all(float value) { return hn::Set(Floats(), value); }
HWY_INLINE float sum_of(Vector v) { return hn::GetLane(hn::SumOfLanes(Floats(), v)); }

#if HWY_TARGET != HWY_SCALAR
/// The sum of a vector's blocks of four.
template <class D>
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> sum_of_blocks(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) > 4) {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}
#endif

/// The sums of four vectors, each always taken in the same order.
HWY_INLINE void sums_of_four(const Vector* v, float* sums) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < 4; ++i) sums[i] = hn::GetLane(v[i]);
#else
  const Floats floats;
  const hn::RepartitionToWide<Floats> pairs;
  const auto halved = [&](Vector a, Vector b) HWY_ATTR {  // a0+a2 b0+b2 a1+a3 b1+b3 in every block of four
    return hn::Add(hn::InterleaveLower(floats, a, b), hn::InterleaveUpper(floats, a, b));
  };
  const auto ab = hn::BitCast(pairs, halved(v[0], v[1])), cd = hn::BitCast(pairs, halved(v[2], v[3]));
  const auto blocks = hn::Add(hn::BitCast(floats, hn::InterleaveLower(pairs, ab, cd)),
                              hn::BitCast(floats, hn::InterleaveUpper(pairs, ab, cd)));
  hn::StoreU(sum_of_blocks(floats, blocks), hn::FixedTag<float, 4>(), sums);
#endif
}

HWY_INLINE Vector load_whole(const float* from) { return hn::LoadU(Floats(), from); }

HWY_INLINE Vector load_whole(const Bf16* from) {
  const auto halves = hn::LoadU(Halves(), reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), halves)));
}

HWY_INLINE void store_whole(Vector v, float* to) { hn::StoreU(v, Floats(), to); }

/// Bits of float32 numbers whose upper halves are the nearest bfloat16, ties to even; NaN stays NaN.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rounded_bits(D, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> words;
  const auto bits = hn::BitCast(words, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1));
  const auto rounded = hn::Add(bits, hn::Add(hn::Set(words, 0x7fff), odd));
  const auto is_nan = hn::RebindMask(words, hn::IsNaN(v));
  return hn::IfThenElse(is_nan, hn::Set(words, 0x7fc00000), rounded);
}

HWY_INLINE void store_whole(Vector v, Bf16* to) {
  const auto upper = hn::ShiftRight<16>(rounded_bits(Floats(), v));
  hn::StoreU(hn::TruncateTo(Halves(), upper), Halves(), reinterpret_cast<uint16_t*>(to));
}

/// kCount numbers to memory.
template <size_t kCount>
HWY_INLINE void put_all(const float* from, float* to) {
  std::memcpy(to, from, kCount * sizeof(float));
}

template <size_t kCount>
HWY_INLINE void put_all(const float* from, Bf16* to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kCount == 4) {
    const hn::FixedTag<float, kCount> floats;
    const hn::Rebind<uint16_t, decltype(floats)> halves;
    const auto bits = hn::ShiftRight<16>(rounded_bits(floats, hn::LoadU(floats, from)));
    return hn::StoreU(hn::TruncateTo(halves, bits), halves, reinterpret_cast<uint16_t*>(to));
  }
#endif
  for (size_t i = 0; i < kCount; ++i) put(from[i], to + i);
}

// Instructions that leave out what a mask excludes, without touching its memory.
#define BLOCKZOO_MASKS_FLOATS (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2)
#define BLOCKZOO_MASKS_HALVES (HWY_TARGET == HWY_AVX3)

template <class T>
HWY_INLINE constexpr bool masks() {
  return std::is_same_v<T, float> ? BLOCKZOO_MASKS_FLOATS : BLOCKZOO_MASKS_HALVES;
}

HWY_INLINE Vector load_masked(const float* from, size_t count) {
  return hn::MaskedLoad(hn::FirstN(Floats(), count), Floats(), from);
}

HWY_INLINE Vector load_masked(const Bf16* from, size_t count) {
  const Halves halves;
  const auto bits = hn::MaskedLoad(hn::FirstN(halves, count), halves, reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), bits)));
}

HWY_INLINE void store_masked(Vector v, float* to, size_t count) {
  hn::BlendedStore(v, hn::FirstN(Floats(), count), Floats(), to);
}

HWY_INLINE void store_masked(Vector v, Bf16* to, size_t count) {
  const Halves halves;
  const auto upper = hn::TruncateTo(halves, hn::ShiftRight<16>(rounded_bits(Floats(), v)));
  hn::BlendedStore(upper, hn::FirstN(halves, count), halves, reinterpret_cast<uint16_t*>(to));
}

/// The first `count` of a vector's elements; the others are zero.
template <class T>
HWY_INLINE Vector load(const T* from, size_t count) {
  if (count == lanes()) return load_whole(from);
  if constexpr (masks<T>()) return load_masked(from, count);
  HWY_ALIGN T some[hn::MaxLanes(Floats())] = {};
  std::memcpy(some, from, count * sizeof(T));
  return load_whole(some);
}

template <class T>
HWY_INLINE void store(Vector v, T* to, size_t count) {
  if (count == lanes()) return store_whole(v, to);
  if constexpr (masks<T>()) return store_masked(v, to, count);
  HWY_ALIGN T some[hn::MaxLanes(Floats())];
  store_whole(v, some);
  std::memcpy(to, some, count * sizeof(T));
}

/// Lanes at `count` and above take `other`.
HWY_INLINE Vector first_lanes(Vector v, size_t count, Vector other) {
  return count == lanes() ? v : hn::IfThenElse(hn::FirstN(Floats(), count), v, other);
}

/// body(first, count) for vector after vector of `width` elements, the last one partly filled.
template <class Body>
HWY_INLINE void walk(size_t width, const Body& body) {
  size_t i = 0;
  for (; i + lanes() <= width; i += lanes()) body(i, lanes());
  if (lanes() > 1 && i < width) body(i, width - i);
}

}  // namespace blockzoo::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
